-- Copy news to each channel that wants it; without a channel it is simply over.
-- Parameters: channels (JSON array of kind and wants, a prefix list), limit.
WITH clock AS MATERIALIZED (
    SELECT ledger_now() AS at
), news AS MATERIALIZED (
    SELECT id FROM outbox
     WHERE kind = 'news' AND sent_at IS NULL AND gave_up_at IS NULL
       AND due_at <= (SELECT ledger_now())
     ORDER BY due_at LIMIT %(limit)s::integer FOR UPDATE SKIP LOCKED
), closed AS (
    UPDATE outbox o SET sent_at = clock.at FROM news, clock WHERE o.id = news.id
    RETURNING o.subject, o.key, o.payload, clock.at
), copied AS (
    INSERT INTO outbox (id, kind, subject, key, payload, created_at, due_at)
    SELECT gen_random_uuid(), c.kind, closed.subject, c.kind || ':' || closed.key, closed.payload,
           closed.at, closed.at
      FROM closed CROSS JOIN jsonb_to_recordset(%(channels)s::jsonb) AS c(kind text, wants text[])
     WHERE split_part(closed.payload ->> 'event', '.', 1) = ANY(c.wants)
    ON CONFLICT (key) DO NOTHING
)
SELECT count(*) AS count FROM closed;
