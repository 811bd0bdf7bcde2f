-- Move time on, whether it stands still or runs. Parameter: seconds.
UPDATE test_clock
   SET at = at + make_interval(secs => %(seconds)s::double precision),
       shift = shift + CASE WHEN at IS NULL
                            THEN make_interval(secs => %(seconds)s::double precision)
                            ELSE '0' END;
