-- One process at a time tells of a policy; the look that follows sees what the one before has told.
SELECT pg_advisory_xact_lock(8790);
