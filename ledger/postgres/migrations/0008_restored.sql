-- Restored backups, and the reverse sweep: what the provider has and this ledger does not know.

-- One row for each time that this database was found, or said, to be an older copy of itself.
CREATE TABLE restorations (
    epoch       integer     PRIMARY KEY,  -- the epoch that began with it
    began_at    timestamptz NOT NULL,     -- attempts that left until then may be missing
    began_by    text        NOT NULL,
    reason      text        NOT NULL,
    backup_at   timestamptz NOT NULL,     -- what happened since then is lost
    open_before integer     NOT NULL,     -- operations that the backup holds as not final
    released_at timestamptz,
    released_by text
);
CREATE TRIGGER restorations_stay BEFORE DELETE OR TRUNCATE ON restorations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse('restorations are kept');

-- How far the provider's lists were read backwards into the ledger.
CREATE TABLE sweeps (
    type        text        NOT NULL,
    account     text        NOT NULL,
    swept_until timestamptz NOT NULL,  -- every effect created before was compared
    since       timestamptz,           -- the stretch in hand: from when,
    until       timestamptz,           -- up to which moment of the provider's clock,
    page        text,                  -- and where its next page begins
    taken_until timestamptz,
    compared    bigint      NOT NULL DEFAULT 0,
    trouble     text,                  -- why it does not go on, if so
    PRIMARY KEY (type, account)
);

ALTER TABLE escalations ADD COLUMN target text;  -- of an effect that no operation accounts for
CREATE INDEX escalations_of_effect ON escalations (provider, account, reference)
    WHERE scope = 'effect';
CREATE INDEX escalations_on_target ON escalations (target) WHERE target IS NOT NULL;

-- As before, and: while a restored backup is not released, nothing leaves at all.
CREATE OR REPLACE FUNCTION stopped_by(of_provider text, of_type text, of_account text,
                                      of_credential text)
    RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT CASE
        WHEN EXISTS (SELECT FROM restorations WHERE released_at IS NULL) THEN 'quarantine'
        WHEN EXISTS (SELECT FROM brakes WHERE scope IN
                     ('all', 'provider:' || of_provider, 'type:' || of_type)) THEN 'brake_on'
        WHEN EXISTS (SELECT FROM breakers WHERE provider = of_provider AND account = of_account
                      AND credential = of_credential AND open_until > ledger_now())
             THEN 'breaker_open'
        WHEN clock_went_back() THEN 'clock_went_back' END
$$;

-- As before, and: an effect of ours that nobody has explained yet makes its target busy.
CREATE OR REPLACE FUNCTION is_target_busy(of_target text, but_not uuid) RETURNS boolean
    LANGUAGE sql VOLATILE AS $$
    SELECT EXISTS (SELECT FROM operations
                    WHERE target = of_target AND id <> but_not AND NOT never_send
                      AND (state IN ('created', 'sent') OR escalated)
                      AND (in_doubt OR escalated))
        OR EXISTS (SELECT FROM escalations WHERE target = of_target AND closed_at IS NULL)
$$;

-- As before, and: effects of ours that no operation accounts for, by the operation that they name.
-- An intent whose record was lost must not be acted on anew because nobody remembers it.
CREATE OR REPLACE FUNCTION look_alikes(wanted_target text, wanted_family text, within interval)
    RETURNS uuid[] LANGUAGE sql VOLATILE AS $$
    SELECT array_agg(id ORDER BY at DESC) FROM (
        SELECT id, created_at AS at FROM operations
         WHERE target = wanted_target AND family = wanted_family
           AND created_at > ledger_now() - within
           AND (state <> 'failed' OR escalated)
         UNION ALL
        SELECT (dossier #>> '{marker,operation_id}')::uuid, opened_at FROM escalations
         WHERE target = wanted_target AND opened_at > ledger_now() - within) AS found
$$;
