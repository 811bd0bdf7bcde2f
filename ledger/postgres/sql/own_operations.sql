-- A page of the operations that one requester asked for, the newest first.
-- Parameters: requested_by, state (or null), before (an id, or null), limit.
SELECT o.id, o.proposal_id, o.item, o.type, o.provider, o.account, o.livemode, o.target,
       o.amount_minor, o.currency, o.state, o.in_doubt, o.escalated, o.never_send,
       o.attempt_count, o.reference, o.failure_code, o.decision, o.created_at,
       o.window_started_at, o.next_check_at
  FROM proposals p JOIN operations o ON o.proposal_id = p.id
 WHERE p.requested_by = %(requested_by)s::text
   AND (%(state)s::text IS NULL OR o.state = %(state)s::text)
   AND o.id < coalesce(%(before)s::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
 ORDER BY o.id DESC LIMIT %(limit)s::integer;
