-- Proposals that wait for a person, the first to lapse first. Parameter: limit.
SELECT p.id, p.type, p.items, p.requested_by, p.created_at, p.expires_at, p.approvals,
       p.preview -> 'title' AS title, p.preview -> 'totals' AS totals, p.preview -> 'undo' AS undo,
       p.preview -> 'repeats' AS repeats,
       coalesce((SELECT array_agg(v.voter ORDER BY v.voted_at) FROM votes v
                  WHERE v.proposal_id = p.id), '{}') AS voters,
       count(*) OVER () AS total
  FROM proposals p
 WHERE p.state = 'awaiting' AND p.expires_at > ledger_now()
 ORDER BY p.expires_at, p.id LIMIT %(limit)s::integer;
