-- Take operations that are due: a share for each provider account, so that a stuck one starves
-- nobody; live ones before watched ones; whose key window ends first, first.
-- Parameters: owner, actor, share, full (accounts that have their share in hand), lease_s, payload.
WITH clock AS MATERIALIZED (SELECT ledger_now() AS at),
due AS MATERIALIZED (
    SELECT taken.* FROM provider_accounts a CROSS JOIN LATERAL (
        SELECT o.id, o.last_event_seq, o.last_event_hash, o.fence FROM operations o
         WHERE o.provider = a.provider AND o.account = a.account
           AND o.next_check_at < (SELECT at FROM clock)
         ORDER BY o.state IN ('confirmed', 'failed'), o.window_started_at, o.next_check_at
         LIMIT %(share)s::integer FOR UPDATE SKIP LOCKED) AS taken
     WHERE a.provider || '/' || a.account <> ALL(%(full)s::text[])
), salted AS MATERIALIZED (
    SELECT due.*, clock.at, gen_random_uuid() AS event_id, uuid_send(gen_random_uuid()) AS salt
      FROM due CROSS JOIN clock
), changed AS (
    UPDATE operations o
       SET fence = s.fence + 1, owner = %(owner)s::uuid,
           lease_until = s.at + make_interval(secs => %(lease_s)s::double precision),
           next_check_at = s.at + make_interval(secs => %(lease_s)s::double precision),
           woken = false,
           last_event_seq = s.last_event_seq + 1,
           last_event_hash = event_hash(
               s.last_event_hash, s.id, s.last_event_seq + 1, s.event_id, 'claimed', %(actor)s::text,
               s.at, sha256(s.salt || convert_to(%(payload)s::text, 'UTF8')))
      FROM salted s WHERE o.id = s.id
    RETURNING o.id, o.fence, o.last_event_seq, o.last_event_hash, s.at, s.event_id, 'claimed' AS kind,
              %(actor)s::text AS actor, sha256(s.salt || convert_to(%(payload)s::text, 'UTF8'))
              AS payload_digest, s.salt, %(payload)s::text AS payload
),
-- :include _append_event
SELECT id, fence FROM changed;
