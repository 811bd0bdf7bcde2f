-- A person's no, or the requester's withdrawal: decided once.
-- Parameters: id, version (or null), digest (or null), by, state, reason.
WITH locked AS MATERIALIZED (
    SELECT * FROM proposals WHERE id = %(id)s::uuid FOR UPDATE
), judged AS MATERIALIZED (
    SELECT l.*, clock.at, CASE
        WHEN l.state <> 'awaiting' THEN 'decided'
        WHEN l.version <> coalesce(%(version)s::integer, l.version)
          OR l.digest <> coalesce(%(digest)s::text, l.digest) THEN 'stale'
        WHEN l.expires_at <= clock.at THEN 'lapsed'
        ELSE 'done' END AS verdict
      FROM locked l CROSS JOIN (SELECT count(*), ledger_now() AS at FROM locked) AS clock
), decided AS (
    UPDATE proposals p
       SET state = %(state)s::text, decided_by = %(by)s::text, decided_at = j.at,
           reason = %(reason)s::text
      FROM judged j WHERE p.id = j.id AND j.verdict = 'done'
)
SELECT verdict, state, version, digest, decided_by, decided_at, expires_at, superseded_by
  FROM judged;
