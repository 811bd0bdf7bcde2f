-- Note that a token is in use, once a minute at most. Parameter: id.
UPDATE tokens SET used_at = ledger_now()
 WHERE id = %(id)s::uuid
   AND (used_at IS NULL OR used_at < ledger_now() - interval '1 minute');
