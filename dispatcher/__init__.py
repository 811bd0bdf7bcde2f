"""One effect, as approved, or nothing: gate, send, classify, record."""
