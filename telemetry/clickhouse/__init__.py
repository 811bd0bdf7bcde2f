"""The trace store: a server that is given, or an embedded one; one client for both."""
