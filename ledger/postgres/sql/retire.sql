-- A worker leaves in order: what it still holds is due at once, under a new fence.
-- Parameter: incarnation.
WITH ended AS (
    UPDATE workers SET ended_at = ledger_now()
     WHERE incarnation = %(incarnation)s::uuid AND ended_at IS NULL
)
UPDATE operations
   SET fence = fence + 1, owner = NULL, lease_until = NULL, next_check_at = ledger_now()
 WHERE owner = %(incarnation)s::uuid
RETURNING id;
