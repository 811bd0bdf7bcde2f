-- The restored backup that nobody has released yet, under the identity's lock.
SELECT r.*, i.high_water FROM ledger_identity i LEFT JOIN restorations r ON r.released_at IS NULL
   FOR UPDATE OF i;
