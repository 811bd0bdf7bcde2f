-- Look-ups fail at this account: the first send afterwards goes alone, as a canary.
-- Parameters: provider, account.
UPDATE provider_accounts SET outage_since = ledger_now(), canary = NULL
 WHERE provider = %(provider)s::text AND account = %(account)s::text AND outage_since IS NULL;
