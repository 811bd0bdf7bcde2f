-- Who has approved a proposal so far, and when. Parameter: id.
SELECT voter, voted_at FROM votes WHERE proposal_id = %(id)s::uuid ORDER BY voted_at;
