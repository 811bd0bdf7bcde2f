-- Begin with a request that answers many questions; one that died on the way is taken up again.
-- No row: it came before, or is under way. Parameters: by, request_key, digest, dead_after_s.
INSERT INTO bulk_answers AS known (answered_by, request_key, digest, began_at)
VALUES (%(by)s::text, %(request_key)s::text, %(digest)s::text, ledger_now())
ON CONFLICT (answered_by, request_key) DO UPDATE SET began_at = excluded.began_at
 WHERE known.digest = excluded.digest AND known.result IS NULL
   AND known.began_at < excluded.began_at
                        - make_interval(secs => %(dead_after_s)s::double precision)
RETURNING request_key;
