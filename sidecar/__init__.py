"""The running process: settings, wiring, doors, command line."""
