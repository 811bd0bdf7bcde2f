-- How far the last restored backup has been made good. Parameters: unclear (decisions that leave
-- an operation in question), settle_s.
SELECT r.*, ledger_now() AS at,
       r.began_at + make_interval(secs => %(settle_s)s::double precision) AS sweep_to,
       o.unclear, o.asked, o.open,
       u.found AS unrecorded, u.unanswered,
       coalesce((SELECT jsonb_agg(jsonb_build_object(
                     'type', s.type, 'account', s.account, 'swept_until', s.swept_until,
                     'compared', s.compared, 'trouble', s.trouble) ORDER BY s.type, s.account)
                   FROM sweeps s), '[]') AS sweeps,
       (SELECT count(*) FROM provider_accounts) AS accounts
  FROM (SELECT * FROM restorations ORDER BY epoch DESC LIMIT 1) AS r
 CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE NOT escalated AND NOT never_send
                  AND (decision IS NULL OR decision = ANY(%(unclear)s::text[]))) AS unclear,
              count(*) FILTER (WHERE escalated) AS asked, count(*) AS open
         FROM operations WHERE state IN ('created', 'sent') AND created_at <= r.began_at) AS o
 CROSS JOIN LATERAL (
       SELECT count(*) AS found, count(*) FILTER (WHERE closed_at IS NULL) AS unanswered
         FROM escalations WHERE scope = 'effect' AND opened_at >= r.began_at) AS u;
