-- Wait for whoever is creating operations on these targets, as `authorize` does. Parameter: targets.
SELECT pg_advisory_xact_lock(8787, bucket)
  FROM (SELECT DISTINCT hashtext(target) & 1023 AS bucket
          FROM unnest(%(targets)s::text[]) AS t(target) ORDER BY 1) AS buckets;
