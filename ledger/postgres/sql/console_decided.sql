-- A page of proposals that were put to a person and wait no more, those asked for last first.
-- Parameters: before (an id, or null), limit.
SELECT p.id, p.type, p.version, p.items, p.requested_by, p.expires_at, p.preview -> 'totals' AS totals,
       CASE WHEN p.state = 'awaiting' THEN 'expired' ELSE p.state END AS state,
       CASE WHEN p.state = 'awaiting' THEN 'ledger' ELSE p.decided_by END AS decided_by,
       coalesce(p.decided_at, p.expires_at) AS decided_at
  FROM proposals p
 WHERE p.mode = 'human' AND (p.state <> 'awaiting' OR p.expires_at <= ledger_now())
   AND p.created_at <= coalesce((SELECT created_at FROM proposals WHERE id = %(before)s::uuid),
                                'infinity')
   AND (%(before)s::uuid IS NULL
        OR (p.created_at, p.id) < (SELECT created_at, id FROM proposals
                                    WHERE id = %(before)s::uuid))
 ORDER BY p.created_at DESC, p.id DESC LIMIT %(limit)s::integer;
