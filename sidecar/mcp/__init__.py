"""The MCP door: agents propose and read through it; nothing is decided here."""
