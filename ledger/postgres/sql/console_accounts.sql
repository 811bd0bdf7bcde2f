-- Provider accounts that were seen.
SELECT provider, account, livemode FROM provider_accounts ORDER BY provider, account;
