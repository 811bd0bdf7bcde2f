-- What waits, how long, and what fails, for each kind. Both parts read partial indexes.
-- Parameter: within_s, how far back what was given up counts.
SELECT kind, sum(waiting) AS waiting, sum(failing) AS failing, sum(gave_up) AS gave_up,
       max(oldest_s) AS oldest_s, max(last_error) AS last_error
  FROM (SELECT kind, count(*) AS waiting, count(*) FILTER (WHERE last_error IS NOT NULL) AS failing,
               0 AS gave_up, max(extract(epoch FROM ledger_now() - created_at)) AS oldest_s,
               (array_agg(last_error ORDER BY due_at DESC) FILTER (WHERE last_error IS NOT NULL))[1]
               AS last_error
          FROM outbox WHERE sent_at IS NULL AND gave_up_at IS NULL GROUP BY kind
        UNION ALL
        SELECT kind, 0, 0, count(*), NULL,
               (array_agg(last_error ORDER BY gave_up_at DESC))[1]
          FROM outbox
         WHERE gave_up_at > (SELECT ledger_now()
                                    - make_interval(secs => %(within_s)s::double precision))
         GROUP BY kind) AS parts
 GROUP BY kind ORDER BY kind;
