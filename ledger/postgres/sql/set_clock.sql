-- Let time stand still at a moment, or run on (null). Parameter: at.
UPDATE test_clock SET at = %(at)s::timestamptz;
