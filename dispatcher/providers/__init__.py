"""Adapters: one folder a provider, one file an operation type."""
