 WHERE at >= %(since)s::timestamptz AND at < %(until)s::timestamptz
   AND at <= coalesce(%(before_at)s::timestamptz, 'infinity')
   AND (%(before_at)s::timestamptz IS NULL
        OR (at, key) < (%(before_at)s::timestamptz, %(before_key)s::text))
   AND (%(who)s::text IS NULL OR who = %(who)s::text)
   AND (%(what)s::text IS NULL OR what = %(what)s::text
        OR what LIKE replace(replace(%(what)s::text, '_', '\_'), '%%', '\%%') || '.%%')
 ORDER BY at DESC, key DESC LIMIT %(limit)s::integer)
