-- Keep how far a sweep has come, unless it was begun anew meanwhile.
-- Parameters: type, account, since, until, page, compared, trouble, done, keep_s (0: let go).
UPDATE sweeps
   SET swept_until = CASE WHEN %(done)s::boolean
                          THEN greatest(swept_until, %(until)s::timestamptz)
                          ELSE swept_until END,
       since = CASE WHEN %(done)s::boolean THEN NULL ELSE since END,
       until = CASE WHEN %(done)s::boolean THEN NULL ELSE %(until)s::timestamptz END,
       page = CASE WHEN %(done)s::boolean THEN NULL ELSE %(page)s::text END,
       compared = compared + %(compared)s::bigint, trouble = %(trouble)s::text,
       taken_until = CASE WHEN %(done)s::boolean THEN NULL
           ELSE ledger_now() + make_interval(secs => %(keep_s)s::double precision) END
 WHERE type = %(type)s::text AND account = %(account)s::text AND since = %(since)s::timestamptz
RETURNING swept_until;
