-- How many proposals wait, and how many of them for this person. Parameter: by.
SELECT count(*) AS all_of_them,
       count(*) FILTER (WHERE p.requested_by <> %(by)s::text AND NOT EXISTS (
           SELECT FROM votes v WHERE v.proposal_id = p.id AND v.voter = %(by)s::text)) AS yours
  FROM proposals p WHERE p.state = 'awaiting' AND p.expires_at > ledger_now();
