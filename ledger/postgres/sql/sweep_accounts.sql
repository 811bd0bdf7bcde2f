-- Accounts of a provider that operations act in. Parameter: provider.
SELECT account FROM provider_accounts WHERE provider = %(provider)s::text ORDER BY 1;
