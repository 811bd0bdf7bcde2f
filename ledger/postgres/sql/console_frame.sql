-- What waits, in three numbers, and whether every provider account that was seen is in test mode.
SELECT (SELECT count(*) FROM operations WHERE in_doubt) AS in_doubt,
       (SELECT count(*) FROM proposals
         WHERE state = 'awaiting' AND expires_at > ledger_now()) AS awaiting,
       (SELECT count(*) FROM escalations WHERE closed_at IS NULL) AS escalations,
       coalesce((SELECT bool_and(NOT livemode) FROM provider_accounts), false) AS test_only;
