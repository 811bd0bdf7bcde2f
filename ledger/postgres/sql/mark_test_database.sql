-- Make the clock settable, for good, in a database that moves no real money. The constraint
-- refuses if it holds a live operation, and refuses every later one.
CREATE TABLE IF NOT EXISTS test_clock (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    at        timestamptz,                      -- where time stands still, if it does
    shift     interval NOT NULL DEFAULT '0'     -- else: how far it is ahead of the server's
);
INSERT INTO test_clock DEFAULT VALUES ON CONFLICT DO NOTHING;
ALTER TABLE operations DROP CONSTRAINT IF EXISTS no_live_operation_under_a_settable_clock;
ALTER TABLE operations ADD CONSTRAINT no_live_operation_under_a_settable_clock
    CHECK (NOT livemode);
CREATE OR REPLACE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS 'SELECT coalesce(at, clock_timestamp() + shift) FROM test_clock';
UPDATE ledger_identity SET is_test = true;
