"""The command line: tables for people, `--json` for programs, exit codes that mean something."""
