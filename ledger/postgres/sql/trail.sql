-- Who did what, the newest first: decisions, votes, revocations, answers, and deeds that no row
-- keeps. Each branch reads a page backwards by an index of its own, and the newest of all count.
-- Parameters: since, until, who, what (a name, or a group such as `proposal`; each or null),
-- before_at, before_key (the place, or nulls), limit.
WITH asked AS (
    SELECT created_at AS at, id::text || '/asked' AS key, requested_by AS who,
           'proposal.asked' AS what, 'proposal' AS subject, id::text AS subject_id,
           jsonb_build_object('type', type, 'items', items, 'version', version, 'digest', digest,
                              'rule', rule, 'totals', preview -> 'totals') AS told
      FROM proposals WHERE mode = 'human'
), decided AS (
    SELECT decided_at AS at, id::text || '/decided' AS key, decided_by AS who,
           'proposal.' || CASE state WHEN 'superseded' THEN 'changed' ELSE state END AS what,
           'proposal' AS subject, id::text AS subject_id,
           jsonb_build_object('type', type, 'items', items, 'version', version, 'digest', digest,
                              'reason', reason, 'totals', preview -> 'totals') AS told
      FROM proposals WHERE mode = 'human' AND decided_at IS NOT NULL
), signed AS (
    SELECT v.voted_at AS at, v.proposal_id::text || '/vote/' || v.voter AS key, v.voter AS who,
           'proposal.signed' AS what, 'proposal' AS subject, v.proposal_id::text AS subject_id,
           jsonb_build_object('type', p.type, 'items', p.items, 'version', p.version,
                              'digest', p.digest, 'separate', v.separate,
                              'totals', p.preview -> 'totals') AS told
      FROM votes v JOIN proposals p ON p.id = v.proposal_id
     WHERE p.mode = 'human' AND p.decided_by IS DISTINCT FROM v.voter
), revoked AS (
    SELECT revoked_at AS at, id::text || '/revoked' AS key, revoked_by AS who,
           'authorization.revoked' AS what, 'proposal' AS subject, proposal_id::text AS subject_id,
           jsonb_build_object('authorization', id, 'reason', revoked_reason) AS told
      FROM authorizations WHERE revoked_at IS NOT NULL
), answered AS (
    SELECT closed_at AS at, id::text || '/closed' AS key, closed_by AS who,
           'escalation.answered' AS what, 'escalation' AS subject, id::text AS subject_id,
           jsonb_build_object('operation', operation_id, 'reasons', reasons, 'verdict', verdict,
                              'note', note, 'amount_minor', amount_minor,
                              'currency', currency) AS told
      FROM escalations WHERE closed_at IS NOT NULL
), restored AS (
    SELECT began_at AS at, 'restored/' || epoch AS key, began_by AS who,
           'ledger.restored' AS what, 'ledger' AS subject, epoch::text AS subject_id,
           jsonb_build_object('reason', reason, 'backup_at', backup_at,
                              'open_before', open_before) AS told
      FROM restorations
), released AS (
    SELECT released_at AS at, 'released/' || epoch AS key, released_by AS who,
           'ledger.released' AS what, 'ledger' AS subject, epoch::text AS subject_id,
           '{}'::jsonb AS told
      FROM restorations WHERE released_at IS NOT NULL
), kept AS (
    SELECT at, id::text || '/deed' AS key, who, what, split_part(what, '.', 1) AS subject,
           subject AS subject_id, told
      FROM deeds
)
SELECT at, key, who, what, subject, subject_id, told FROM (
(SELECT * FROM asked
-- :include _trail_place
 UNION ALL
(SELECT * FROM decided
-- :include _trail_place
 UNION ALL
(SELECT * FROM signed
-- :include _trail_place
 UNION ALL
(SELECT * FROM revoked
-- :include _trail_place
 UNION ALL
(SELECT * FROM answered
-- :include _trail_place
 UNION ALL
(SELECT * FROM restored
-- :include _trail_place
 UNION ALL
(SELECT * FROM released
-- :include _trail_place
 UNION ALL
(SELECT * FROM kept
-- :include _trail_place
) AS found
 ORDER BY at DESC, key DESC LIMIT %(limit)s::integer;
