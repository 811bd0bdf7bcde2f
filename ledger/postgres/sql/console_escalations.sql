-- Open questions with what they are about, by what is lost first: window, money, age. Of the
-- dossier only its attempts, by which causes are told apart.
-- Parameters: of ('open', 'nobody', 'mine'), who, account, reason (both or null: those of one
-- cause), after (a question's id: those behind it, or null), limit.
SELECT e.id, e.scope, e.operation_id, e.provider, e.account, e.reference, e.reasons, e.members,
       e.opened_at, e.amount_minor, e.currency, e.window_ends_at,
       jsonb_build_object('attempts', e.dossier -> 'attempts') AS dossier,
       CASE WHEN e.claimed_until > ledger_now() THEN e.claimed_by END AS claimed_by,
       e.claimed_until, e.closed_at, e.closed_by, e.verdict, e.note, NULL AS evidence, NULL AS asked,
       o.type, o.object_id, o.in_doubt, o.window_started_at, o.case_version
  FROM (
       -- Put in order by what is short; only of the page's own are the dossiers read.
       SELECT q.id FROM escalations q LEFT JOIN escalations place ON place.id = %(after)s::uuid
        WHERE q.closed_at IS NULL
          AND CASE %(of)s::text
              WHEN 'nobody' THEN q.claimed_by IS NULL OR q.claimed_until <= ledger_now()
              WHEN 'mine' THEN q.claimed_by = %(who)s::text AND q.claimed_until > ledger_now()
              ELSE true END
          AND (%(account)s::text IS NULL
               OR (q.scope = 'operation' AND q.account = %(account)s::text
                   AND %(reason)s::text = ANY(q.reasons)))
          AND (place.id IS NULL
               OR (coalesce(q.window_ends_at, 'infinity'), -coalesce(q.amount_minor, -1),
                   q.opened_at, q.id)
                > (coalesce(place.window_ends_at, 'infinity'), -coalesce(place.amount_minor, -1),
                   place.opened_at, place.id))
        ORDER BY coalesce(q.window_ends_at, 'infinity'), -coalesce(q.amount_minor, -1), q.opened_at,
                 q.id
        LIMIT %(limit)s::integer
       ) AS page
  JOIN escalations e USING (id)
  LEFT JOIN operations o ON o.id = e.operation_id
 ORDER BY coalesce(e.window_ends_at, 'infinity'), -coalesce(e.amount_minor, -1), e.opened_at, e.id;
