-- Keep a provider's event, once. No row: it came before.
-- Parameters: provider, event_id, type, object_id, operation_id (or null).
INSERT INTO webhook_events (provider, event_id, type, object_id, operation_id, received_at)
VALUES (%(provider)s::text, %(event_id)s::text, %(type)s::text, %(object_id)s::text,
        %(operation_id)s::uuid, ledger_now())
ON CONFLICT (provider, event_id) DO NOTHING
RETURNING event_id;
