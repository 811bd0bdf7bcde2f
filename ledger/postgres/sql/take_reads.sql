-- Lease a chunk of the read budget that all replicas share; what is granted may be less. Fractions
-- of a read stay in the budget: replicas that ask more often than it grows must not lose them.
-- Parameters: provider, credential, wanted, rate (reads per second), burst.
WITH locked AS MATERIALIZED (
    SELECT reads_left, refilled_at FROM read_budgets
     WHERE provider = %(provider)s::text AND credential = %(credential)s::text FOR UPDATE
), clock AS MATERIALIZED (
    SELECT count(*) AS locks, ledger_now() AS at FROM locked
), filled AS MATERIALIZED (
    SELECT c.at, least(
               %(burst)s::double precision,
               coalesce(l.reads_left + %(rate)s::double precision
                        * greatest(0, extract(epoch FROM c.at - l.refilled_at)),
                        %(burst)s::double precision)) AS reads
      FROM clock c LEFT JOIN locked l ON true
), taken AS MATERIALIZED (
    SELECT at, reads, greatest(0, least(%(wanted)s::double precision, floor(reads))) AS granted
      FROM filled
), kept AS (
    INSERT INTO read_budgets (provider, credential, reads_left, refilled_at)
    SELECT %(provider)s::text, %(credential)s::text, reads - granted, at FROM taken
    ON CONFLICT (provider, credential) DO UPDATE
       -- Two replicas that ask first of all find no row to lock: the second takes from the first's.
       SET reads_left = CASE WHEN (SELECT locks FROM clock) > 0 THEN excluded.reads_left
                             ELSE read_budgets.reads_left - (SELECT granted FROM taken) END,
           refilled_at = greatest(read_budgets.refilled_at, excluded.refilled_at)
)
SELECT granted FROM taken;
