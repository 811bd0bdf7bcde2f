-- Links and sessions that have long ended go, with what their forms led to; the events of what was
-- decided stay. Parameter: kept_days.
WITH clock AS MATERIALIZED (
    SELECT ledger_now() - make_interval(days => %(kept_days)s::integer) AS before
), links AS (
    DELETE FROM sign_in_links USING clock WHERE expires_at < before
), over AS MATERIALIZED (
    SELECT id FROM sessions, clock WHERE least(expires_at, revoked_at) < before
), done AS (
    DELETE FROM acts USING over WHERE session_id = over.id
)
DELETE FROM sessions USING over WHERE sessions.id = over.id;
