-- A heartbeat; raises the clock's high-water mark. No row: this worker was taken for dead.
-- Parameters: incarnation, ttl_s.
WITH mark AS (
    UPDATE ledger_identity SET high_water = ledger_now()
     WHERE high_water < ledger_now() - interval '1 second'
)
UPDATE workers
   SET heartbeat_at = ledger_now(),
       beating_since = CASE
           WHEN heartbeat_at < ledger_now() - make_interval(secs => %(ttl_s)s::double precision) THEN ledger_now()
           ELSE beating_since END
 WHERE incarnation = %(incarnation)s::uuid AND ended_at IS NULL
RETURNING heartbeat_at, beating_since;
