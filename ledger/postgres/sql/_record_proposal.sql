-- Part of statements that define clock(at): a proposal and its items, unless its key was used.
-- Parameters: proposal (JSON), items (JSON array).
p AS MATERIALIZED (
    SELECT * FROM jsonb_to_record(%(proposal)s::jsonb) AS p(
        id uuid, type text, type_version integer, version integer, requested_by text,
        request_key text, input_digest text, items integer, agent_words text, input jsonb,
        digest text, risk text, policy_version integer, rule text, approvals integer,
        preview jsonb, expires_in_s double precision, authorized_for_s double precision,
        resend_for_s double precision, supersedes uuid, run_id uuid, tool_call_id text,
        trace_context text)
), recorded AS (
    INSERT INTO proposals (
        id, type, type_version, version, requested_by, request_key, input_digest, items, mode,
        state, created_at, agent_words, input, digest, risk, policy_version, rule, approvals,
        preview, expires_at, authorized_for_s, resend_for_s, supersedes, run_id, tool_call_id,
        trace_context)
    SELECT id, type, type_version, version, requested_by, request_key, input_digest, items,
           'human', 'awaiting', at, agent_words, input, digest, risk, policy_version, rule,
           approvals, preview, at + make_interval(secs => expires_in_s), authorized_for_s,
           resend_for_s, supersedes, run_id, tool_call_id, trace_context
      FROM p CROSS JOIN clock
    ON CONFLICT (requested_by, request_key) DO NOTHING
    RETURNING id
), itemised AS (
    INSERT INTO proposal_items (proposal_id, item, operation_id, target, family, request_digest,
                                prepared)
    SELECT recorded.id, i.item, i.id, i.target, i.family, i.request_digest, i.prepared
      FROM recorded, jsonb_to_recordset(%(items)s::jsonb) AS i(
           item integer, id uuid, target text, family text, request_digest text, prepared jsonb)
)
