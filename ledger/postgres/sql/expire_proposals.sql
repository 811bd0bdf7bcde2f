-- What nobody decided in time lapses. Nothing was sent. Parameter: limit.
WITH due AS MATERIALIZED (
    SELECT id FROM proposals
     WHERE state = 'awaiting' AND expires_at <= (SELECT ledger_now())
     ORDER BY expires_at LIMIT %(limit)s::integer FOR UPDATE SKIP LOCKED
)
UPDATE proposals p SET state = 'expired', decided_by = 'ledger', decided_at = ledger_now(),
                       reason = 'nobody decided in time'
  FROM due WHERE p.id = due.id
RETURNING p.id;
