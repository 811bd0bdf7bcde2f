-- The canary had a proper answer. Parameters: provider, account.
UPDATE provider_accounts SET outage_since = NULL, canary = NULL, canary_until = NULL
 WHERE provider = %(provider)s::text AND account = %(account)s::text
   AND outage_since IS NOT NULL;
