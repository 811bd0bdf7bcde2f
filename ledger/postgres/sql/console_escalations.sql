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
  FROM escalations e
  LEFT JOIN operations o ON o.id = e.operation_id
  LEFT JOIN escalations place ON place.id = %(after)s::uuid
 WHERE e.closed_at IS NULL
   AND CASE %(of)s::text
       WHEN 'nobody' THEN e.claimed_by IS NULL OR e.claimed_until <= ledger_now()
       WHEN 'mine' THEN e.claimed_by = %(who)s::text AND e.claimed_until > ledger_now()
       ELSE true END
   AND (%(account)s::text IS NULL OR (e.scope = 'operation' AND e.account = %(account)s::text
                                      AND %(reason)s::text = ANY(e.reasons)))
   AND (place.id IS NULL
        OR (coalesce(e.window_ends_at, 'infinity'), -coalesce(e.amount_minor, -1), e.opened_at, e.id)
         > (coalesce(place.window_ends_at, 'infinity'), -coalesce(place.amount_minor, -1),
            place.opened_at, place.id))
 ORDER BY coalesce(e.window_ends_at, 'infinity'), -coalesce(e.amount_minor, -1), e.opened_at, e.id
 LIMIT %(limit)s::integer;
