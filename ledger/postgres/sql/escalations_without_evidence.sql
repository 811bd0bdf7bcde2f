-- Open questions about an operation whose evidence is to be gathered: not before what is on its way
-- has had time to arrive, and again while a source did not answer. Parameters: after_s, again_s,
-- limit.
SELECT id, operation_id FROM escalations
 WHERE closed_at IS NULL AND operation_id IS NOT NULL
   AND opened_at <= ledger_now() - make_interval(secs => %(after_s)s::double precision)
   AND (evidence IS NULL
        OR (evidence @? '$.gaps[*] ? (@.code == "no_answer")'
            AND (evidence->>'gathered_at')::timestamptz
                <= ledger_now() - make_interval(secs => %(again_s)s::double precision)))
 ORDER BY evidence IS NOT NULL, opened_at
 LIMIT %(limit)s::integer;
