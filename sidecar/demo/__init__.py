"""`outlive demo`: the main job on real input: asked for, approved, and its sender killed."""
