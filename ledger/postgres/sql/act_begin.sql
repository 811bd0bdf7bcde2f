-- Begin what a form asks for; no row where it came before. One whose process died on the way may
-- be begun again. Parameters: session_id, id, path, abandoned_s.
INSERT INTO acts (session_id, id, path, begun_at)
VALUES (%(session_id)s::uuid, %(id)s::uuid, %(path)s::text, ledger_now())
ON CONFLICT (session_id, id) DO UPDATE SET begun_at = EXCLUDED.begun_at
 WHERE acts.path = EXCLUDED.path AND acts.led_to IS NULL
   AND acts.begun_at < ledger_now() - make_interval(secs => %(abandoned_s)s::double precision)
RETURNING id;
