"""PostgreSQL beneath the ledger: schema, statements, writer, embedded engine."""
