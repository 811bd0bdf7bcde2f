-- What the ledger adds to a look-up of one operation. Parameters: id, credential, unseen (codes of
-- decisions on look-ups that said nothing).
SELECT ledger_now() AS at,
       (SELECT epoch FROM ledger_identity) AS epoch,
       (SELECT max(began_at) FROM restorations) AS restored_at,
       (SELECT p.created_at FROM proposals p WHERE p.id = o.proposal_id) AS proposed_at,
       stopped_by(o.provider, o.type, o.account, %(credential)s::text) AS stopped,
       is_target_busy(o.target, o.id) AS busy,
       (SELECT a.outage_since IS NOT NULL FROM provider_accounts a
         WHERE a.provider = o.provider AND a.account = o.account) AS outage,
       EXISTS (SELECT FROM escalations e
                WHERE e.scope = 'account' AND e.closed_at IS NULL
                  AND e.provider = o.provider AND e.account = o.account) AS asked_about_account,
       EXISTS (SELECT FROM breakers b
                WHERE b.provider = o.provider AND b.account = o.account
                  AND b.credential = %(credential)s::text) AS breaker,
       -- Of the others on the target: their effects, and what a person linked to them as done by hand.
       coalesce((SELECT array_agg(known.reference) FROM operations x
           CROSS JOIN LATERAL (VALUES (x.reference), (x.result ->> 'done_by_hand')) AS known(reference)
         WHERE x.target = o.target AND x.id <> o.id AND known.reference IS NOT NULL), '{}') AS own_references,
       coalesce((SELECT array_agg(x.id) FROM operations x
         WHERE x.target = o.target AND x.id <> o.id), '{}') AS own_operations,
       w.code AS waiting_for, w.since AS waiting_since, w.unseen_since
  FROM operations o
  LEFT JOIN LATERAL (
       -- The last decision on a look-up that said something, and since when it has been this one;
       -- since when look-ups have said nothing.
       SELECT told.code,
              (SELECT min(d.at) FROM decision_records d
                WHERE d.operation_id = o.id AND d.code = told.code AND d.id > coalesce((
                      SELECT max(x.id) FROM decision_records x
                       WHERE x.operation_id = o.id AND x.code <> told.code
                         AND x.code <> ALL(%(unseen)s::text[])), 0)) AS since,
              (SELECT min(d.at) FROM decision_records d
                WHERE d.operation_id = o.id AND d.id > coalesce(told.id, 0)) AS unseen_since
         FROM (SELECT max(d.id) AS id FROM decision_records d
                WHERE d.operation_id = o.id AND d.code <> ALL(%(unseen)s::text[])) AS last
         LEFT JOIN decision_records told ON told.id = last.id
       ) AS w ON true
 WHERE o.id = %(id)s::uuid;
