"""The HTTP door: one file a resource, one table of endpoints from which all else is derived."""
