-- What happened to an operation, the newest first: without who took it in hand and let it go, and
-- with a decision that was made several times in a row told once. Parameters: id, most.
WITH told AS (
    SELECT e.seq, e.kind, e.actor, e.at, p.payload,
           CASE WHEN e.kind = 'decided' THEN p.payload::jsonb ->> 'code' END AS code
      FROM events e LEFT JOIN event_payloads p USING (operation_id, seq)
     WHERE e.operation_id = %(id)s::uuid AND e.kind NOT IN ('claimed', 'released')
), marked AS (
    SELECT *, CASE WHEN code = lag(code) OVER (ORDER BY seq) THEN 0 ELSE 1 END AS is_new FROM told
), numbered AS (
    SELECT *, sum(is_new) OVER (ORDER BY seq) AS run FROM marked
)
SELECT min(seq) AS seq, max(seq) AS last_seq, max(kind) AS kind, max(actor) AS actor, min(at) AS at,
       max(at) AS last_at, count(*) AS times, (array_agg(payload ORDER BY seq))[1] AS payload
  FROM numbered GROUP BY run ORDER BY run DESC LIMIT %(most)s::integer;
