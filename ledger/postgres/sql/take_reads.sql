-- Lease a chunk of the read budget that all replicas share; what is granted may be less.
-- Parameters: provider, credential, wanted, rate (reads per second), burst.
WITH clock AS MATERIALIZED (SELECT ledger_now() AS at),
filled AS (
    INSERT INTO read_budgets (provider, credential, reads_left, refilled_at)
    SELECT %(provider)s::text, %(credential)s::text,
           %(burst)s::double precision - %(wanted)s::double precision, at FROM clock
    ON CONFLICT (provider, credential) DO UPDATE
       SET reads_left = least(
               %(burst)s::double precision,
               greatest(read_budgets.reads_left, 0) + %(rate)s::double precision
                   * greatest(0, extract(epoch FROM excluded.refilled_at
                                               - read_budgets.refilled_at)))
               - %(wanted)s::double precision,
           refilled_at = greatest(read_budgets.refilled_at, excluded.refilled_at)
    RETURNING reads_left
)
SELECT greatest(0, %(wanted)s::double precision + least(reads_left, 0)) AS granted FROM filled;
