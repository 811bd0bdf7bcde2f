-- How far the operations of a proposal are: counts and sums, a row for each standing and currency.
-- `stopped` never left because its authorization was ended; `left` had left before that.
-- Parameter: id.
SELECT CASE
           WHEN o.attempt_count = 0 AND o.revoked_at IS NOT NULL THEN 'stopped'
           WHEN o.state = 'confirmed' THEN 'confirmed'
           WHEN o.state = 'failed' THEN 'failed'
           WHEN o.never_send THEN 'given_up'
           WHEN o.in_doubt THEN 'doubt'
           WHEN o.state = 'sent' THEN 'sent'
           ELSE 'created' END AS standing,
       o.attempt_count > 0 AS had_left, o.currency, count(*) AS count,
       coalesce(sum(o.amount_minor), 0)::bigint AS total_minor
  FROM operations o WHERE o.proposal_id = %(id)s::uuid
 GROUP BY 1, 2, 3 ORDER BY 1, 3;
