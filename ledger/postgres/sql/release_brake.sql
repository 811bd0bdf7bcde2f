-- Let sending go on, keep who did, and have what the brake held looked at now instead of after its
-- backoff. A row that somebody has in hand is looked at by them anyway.
-- Parameters: scope, by.
WITH released AS (
    DELETE FROM brakes WHERE scope = %(scope)s::text RETURNING scope, set_by, reason, set_at
), deed AS (
    INSERT INTO deeds (id, at, who, what, subject, told)
    SELECT gen_random_uuid(), ledger_now(), %(by)s::text, 'brake.released', scope,
           jsonb_build_object('reason', reason, 'set_by', set_by, 'set_at', set_at)
      FROM released
), held AS MATERIALIZED (
    SELECT id FROM operations
     WHERE next_check_at > (SELECT ledger_now()) AND decision = 'NOT_YET_BRAKE' AND owner IS NULL
       AND EXISTS (SELECT FROM released)
     ORDER BY id FOR UPDATE SKIP LOCKED
), woken AS (
    UPDATE operations SET next_check_at = ledger_now() FROM held WHERE operations.id = held.id
)
SELECT scope FROM released;
