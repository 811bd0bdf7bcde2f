-- The canary does not go after all: another one may. Parameters: provider, account, operation_id.
UPDATE provider_accounts SET canary = NULL, canary_until = NULL
 WHERE provider = %(provider)s::text AND account = %(account)s::text
   AND canary = %(operation_id)s::uuid;
