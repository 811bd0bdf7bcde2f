-- One snapshot for all panels, and nobody waits long for them; both end with the transaction.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = '2s';
