-- Operations in doubt that are held back while their key windows end within a while, summed by
-- account, reason and currency. Parameters: type, window_s, within_s.
SELECT o.provider, o.account, o.decision, o.currency, count(*) AS operations,
       sum(o.amount_minor)::bigint AS amount_minor, min(o.window_started_at) AS first_started_at,
       (array_agg(o.id ORDER BY o.window_started_at))[1] AS first_id
  FROM operations o
 WHERE o.in_doubt AND NOT o.never_send AND o.type = %(type)s::text
   AND o.decision LIKE 'NOT\_YET\_%%'
   AND o.window_started_at < (SELECT ledger_now()) - make_interval(
           secs => %(window_s)s::double precision - %(within_s)s::double precision)
 GROUP BY o.provider, o.account, o.decision, o.currency;
