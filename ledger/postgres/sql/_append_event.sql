-- The history grows with what it tells, in the same statement. `changed` gives one row an event.
stored AS (
    INSERT INTO event_payloads (operation_id, seq, salt, payload)
    SELECT id, last_event_seq, salt, payload FROM changed
), told AS (
    INSERT INTO events (operation_id, seq, id, kind, actor, at, payload_digest, hash)
    SELECT id, last_event_seq, event_id, kind, actor, at, payload_digest, last_event_hash
      FROM changed
)
