-- Look-ups answer again: an account's question closes by itself, unless a person is on it.
-- Parameters: provider, account.
UPDATE escalations
   SET closed_at = ledger_now(), closed_by = 'recovery', verdict = 'settled',
       note = 'the provider answers again'
 WHERE scope = 'account' AND closed_at IS NULL
   AND provider = %(provider)s::text AND account = %(account)s::text
   AND (claimed_by IS NULL OR claimed_until < ledger_now())
RETURNING id;
