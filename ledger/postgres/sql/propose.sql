-- Put a batch before a person. The same request under the same key finds what it made before.
-- Parameters: proposal (JSON), items (JSON array).
WITH clock AS MATERIALIZED (
    SELECT ledger_now() AS at
),
-- :include _record_proposal
SELECT id FROM recorded;
