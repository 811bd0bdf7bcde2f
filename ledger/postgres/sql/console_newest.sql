-- The version that has taken the place of a proposal last. Parameter: id.
WITH RECURSIVE versions AS (
    SELECT id, superseded_by, 0 AS step FROM proposals WHERE id = %(id)s::uuid
    UNION ALL
    SELECT p.id, p.superseded_by, v.step + 1
      FROM versions v JOIN proposals p ON p.id = v.superseded_by
)
SELECT id FROM versions ORDER BY step DESC LIMIT 1;
