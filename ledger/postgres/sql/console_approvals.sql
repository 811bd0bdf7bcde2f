-- A page of proposals that wait for a person, the first to lapse first.
-- Parameters: not_by (leave out what this person asked for or approved; null: nobody),
-- after_at and after_id (the last one of the page before, or null), limit.
SELECT p.id, p.type, p.version, p.items, p.requested_by, p.created_at, p.expires_at, p.approvals,
       p.rule, p.preview -> 'totals' AS totals, p.preview -> 'undo' AS undo,
       p.preview -> 'repeats' AS repeats,
       coalesce((SELECT array_agg(v.voter ORDER BY v.voted_at) FROM votes v
                  WHERE v.proposal_id = p.id), '{}') AS voters
  FROM proposals p
 WHERE p.state = 'awaiting' AND p.expires_at > ledger_now()
   AND (%(after_at)s::timestamptz IS NULL
        OR (p.expires_at, p.id) > (%(after_at)s::timestamptz, %(after_id)s::uuid))
   AND (%(not_by)s::text IS NULL
        OR (p.requested_by <> %(not_by)s::text AND NOT EXISTS (
            SELECT FROM votes v WHERE v.proposal_id = p.id AND v.voter = %(not_by)s::text)))
 ORDER BY p.expires_at, p.id LIMIT %(limit)s::integer;
