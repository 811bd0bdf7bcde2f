-- All waiting proposals' money, one row a currency; those without money count in no row.
SELECT t ->> 'currency' AS currency, sum((t ->> 'total_minor')::bigint)::bigint AS total_minor
  FROM proposals p CROSS JOIN LATERAL jsonb_array_elements(p.preview -> 'totals') AS t
 WHERE p.state = 'awaiting' AND p.expires_at > ledger_now()
 GROUP BY 1 ORDER BY 2 DESC;
