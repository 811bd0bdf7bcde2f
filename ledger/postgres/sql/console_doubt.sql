-- The money in doubt, one row a currency (null: operations without money), and since when.
SELECT currency, count(*) AS count, sum(amount_minor)::bigint AS total_minor,
       min(window_started_at) AS since
  FROM operations WHERE in_doubt GROUP BY currency
 ORDER BY sum(amount_minor) DESC NULLS LAST;
