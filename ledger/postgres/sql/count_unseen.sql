-- How many operations of an account wait because their target is not visible; counts no further
-- than `most`. Parameters: provider, account, most.
SELECT count(*) AS found FROM (
    SELECT FROM operations
     WHERE provider = %(provider)s::text AND account = %(account)s::text
       AND next_check_at IS NOT NULL AND state IN ('created', 'sent')
       AND decision = 'TARGET_NOT_VISIBLE' LIMIT %(most)s::integer) AS unseen;
