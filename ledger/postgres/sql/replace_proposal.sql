-- A newer version takes the place of one that waits: both in this commit, or neither.
-- Parameters: id, version, digest, by, reason, proposal (JSON), items (JSON array).
WITH locked AS MATERIALIZED (
    SELECT * FROM proposals WHERE id = %(id)s::uuid FOR UPDATE
), judged AS MATERIALIZED (
    SELECT l.*, now.at, CASE
        WHEN l.state <> 'awaiting' THEN 'decided'
        WHEN l.version <> %(version)s::integer OR l.digest <> %(digest)s::text THEN 'stale'
        WHEN l.expires_at <= now.at THEN 'lapsed'
        ELSE 'done' END AS verdict
      FROM locked l CROSS JOIN (SELECT count(*), ledger_now() AS at FROM locked) AS now
), clock AS MATERIALIZED (
    SELECT at FROM judged WHERE verdict = 'done'
),
-- :include _record_proposal
, decided AS (
    UPDATE proposals p
       SET state = 'superseded', decided_by = %(by)s::text, decided_at = j.at,
           reason = %(reason)s::text, superseded_by = recorded.id
      FROM judged j CROSS JOIN recorded WHERE p.id = j.id
)
SELECT verdict, state, version, digest, decided_by, decided_at, expires_at, superseded_by,
       (SELECT id FROM recorded) AS recorded
  FROM judged;
