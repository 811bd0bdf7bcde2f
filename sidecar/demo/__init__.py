"""`outlive demo`: the main job on real input, with an agent that is killed in the middle."""
