-- Items are asked for again, or can't be. Where the whole proposal was overtaken, the new one takes
-- its place. Parameters: operation_ids, asked_in (or null), why (or null), whole (a proposal or null).
WITH done AS (
    UPDATE overtaken SET done_at = ledger_now(), asked_in = %(asked_in)s::uuid, why = %(why)s::text
     WHERE operation_id = ANY(%(operation_ids)s::uuid[]) AND done_at IS NULL
    RETURNING operation_id
), replaced AS (
    UPDATE proposals SET superseded_by = %(asked_in)s::uuid
     WHERE id = %(whole)s::uuid AND superseded_by IS NULL
)
SELECT operation_id FROM done;
