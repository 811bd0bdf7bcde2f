-- What the provider told about an operation by itself, oldest first. Parameters: id, limit.
SELECT event_id, type, object_id, received_at FROM webhook_events
 WHERE operation_id = %(id)s::uuid ORDER BY received_at, event_id LIMIT %(limit)s::integer;
