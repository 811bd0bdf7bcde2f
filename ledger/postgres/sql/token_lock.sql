-- One at a time gives out a name; the look that follows sees what the one before has committed.
-- Parameter: name.
SELECT pg_advisory_xact_lock(8789, hashtext(%(name)s::text));
