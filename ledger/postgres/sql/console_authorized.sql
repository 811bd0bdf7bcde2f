-- The authorization that a decision gave, and whether it was ended. Parameter: id.
SELECT id, created_at, authorized_until, revoked_at, revoked_by, revoked_reason
  FROM authorizations WHERE proposal_id = %(id)s::uuid ORDER BY created_at, id LIMIT 1;
