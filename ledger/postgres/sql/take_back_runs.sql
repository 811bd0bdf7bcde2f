-- A claim whose lease has ended is over: the run is offered again. Parameter: limit.
WITH lapsed AS MATERIALIZED (
    SELECT id FROM runs WHERE state = 'claimed' AND claimed_until < (SELECT ledger_now())
     ORDER BY claimed_until LIMIT %(limit)s::integer FOR UPDATE SKIP LOCKED
)
UPDATE runs r SET state = 'ready', claimed_by = NULL, claimed_until = NULL, offers = 0,
                  offer_at = ledger_now()
  FROM lapsed WHERE r.id = lapsed.id
RETURNING r.id;
