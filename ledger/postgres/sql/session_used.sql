-- Note that a session is in use, once a minute at most. Parameter: id.
UPDATE sessions SET used_at = ledger_now()
 WHERE id = %(id)s::uuid AND used_at < ledger_now() - interval '1 minute';
