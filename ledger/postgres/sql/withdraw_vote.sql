-- The first of two people takes their yes back, while nobody else has decided; that they did, and
-- when they had said it, is kept. Parameters: id, by.
WITH locked AS MATERIALIZED (
    SELECT * FROM proposals WHERE id = %(id)s::uuid FOR UPDATE
), judged AS MATERIALIZED (
    SELECT l.*, clock.at, CASE
        WHEN l.state <> 'awaiting' THEN 'decided'
        WHEN l.expires_at <= clock.at THEN 'lapsed'
        ELSE 'done' END AS verdict
      FROM locked l CROSS JOIN (SELECT count(*), ledger_now() AS at FROM locked) AS clock
), withdrawn AS (
    DELETE FROM votes v USING judged j
     WHERE v.proposal_id = j.id AND j.verdict = 'done' AND v.voter = %(by)s::text
    RETURNING v.voter, v.voted_at
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT gen_random_uuid(), j.at, w.voter, 'proposal.unsigned', j.id::text,
           jsonb_build_object('type', j.type, 'items', j.items, 'version', j.version,
                              'digest', j.digest, 'signed_at', w.voted_at)
      FROM judged j CROSS JOIN withdrawn w
)
SELECT verdict, EXISTS (SELECT FROM withdrawn) AS withdrawn, state, version, digest, decided_by,
       decided_at, expires_at, superseded_by
  FROM judged;
