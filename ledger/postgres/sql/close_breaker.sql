-- Parameters: provider, account, credential.
DELETE FROM breakers WHERE provider = %(provider)s::text AND account = %(account)s::text
   AND credential = %(credential)s::text;
