-- Runs by turns, news of what changed, and approved items whose world changed before they left.

ALTER TABLE runs
    ADD COLUMN turn        integer NOT NULL DEFAULT 1,   -- a run may suspend again and again
    ADD COLUMN turn_digest text    NOT NULL DEFAULT '',  -- over the turn's calls: the same again?
    ADD COLUMN check_at    timestamptz,                  -- while suspended: when to look at its calls
    ADD COLUMN woken_at    timestamptz,
    ADD COLUMN offers      integer NOT NULL DEFAULT 0,   -- how often its agent was called this time
    ADD COLUMN offer_at    timestamptz;                  -- while ready: when to call it
CREATE INDEX runs_to_check ON runs (check_at) WHERE state = 'suspended';
CREATE INDEX runs_to_offer ON runs (offer_at) WHERE state = 'ready';
CREATE INDEX runs_to_take_back ON runs (claimed_until) WHERE state = 'claimed';
ALTER TABLE run_calls ADD COLUMN turn integer NOT NULL DEFAULT 1;
CREATE INDEX run_calls_in_doubt ON run_calls (proposal_id) WHERE status = 'in_doubt';

ALTER TABLE outbox ADD COLUMN receipt jsonb;  -- what the receiver said: where the message is now
CREATE INDEX outbox_gave_up ON outbox (gave_up_at) WHERE gave_up_at IS NOT NULL;

-- What was asked for a target and is not decided, or was refused: no smaller part goes by itself.
CREATE INDEX proposal_items_on_target ON proposal_items (target, family);

-- Approved by a person, and failed before its first send because the world had changed. Written in
-- the transaction that closes the record, so that nobody can miss it.
CREATE TABLE overtaken (
    operation_id uuid PRIMARY KEY,
    proposal_id  uuid        NOT NULL,
    at           timestamptz NOT NULL,
    done_at      timestamptz,
    asked_in     uuid,  -- the proposal that asks again; null: it can't be asked for any more
    why          text
);
CREATE INDEX overtaken_open ON overtaken (proposal_id) WHERE done_at IS NULL;

CREATE FUNCTION note_overtaken() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.failure_code IN ('AUTH_EXPIRED_NO_EFFECT', 'ALREADY_SO', 'REJECTED')
       OR (NEW.failure_code = 'AUTH_REVOKED_NO_EFFECT' AND NOT EXISTS (
             SELECT FROM authorizations a
              WHERE a.id = NEW.authorization_id AND a.revoked_by = 'ledger:overtaken')) THEN
        RETURN NULL;
    END IF;
    INSERT INTO overtaken (operation_id, proposal_id, at)
    SELECT NEW.id, p.id, ledger_now() FROM proposals p
     WHERE p.id = NEW.proposal_id AND p.mode = 'human' AND p.digest IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER overtaken_unsent AFTER UPDATE OF state ON operations FOR EACH ROW
    WHEN (OLD.state = 'created' AND NEW.state = 'failed' AND NEW.attempt_count = 0)
    EXECUTE FUNCTION note_overtaken();

-- The version of a proposal that counts now. Volatile: sees what was committed meanwhile.
CREATE FUNCTION newest_of(proposal uuid) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    WITH RECURSIVE versions AS (
        SELECT p.id, p.superseded_by FROM proposals p WHERE p.id = proposal
        UNION ALL
        SELECT p.id, p.superseded_by FROM versions v JOIN proposals p ON p.id = v.superseded_by)
    SELECT id FROM versions WHERE superseded_by IS NULL
$$;

-- News goes out with the change that it tells of, in one commit, whatever statement made it. A pass
-- copies it to each channel that is set up.
CREATE FUNCTION put_news(event text, subject uuid, told jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO outbox (id, kind, subject, key, payload, created_at, due_at)
    SELECT gen_random_uuid(), 'news', subject, event || ':' || subject,
           told || jsonb_build_object('event', event), at, at
      FROM (SELECT ledger_now() AS at) AS clock
    ON CONFLICT (key) DO NOTHING
$$;

CREATE FUNCTION tell_of_proposal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM put_news('proposal.awaiting', NEW.id, '{}');
        RETURN NULL;
    END IF;
    PERFORM put_news('proposal.decided', NEW.id, jsonb_build_object('state', NEW.state));
    UPDATE runs r SET check_at = ledger_now(), woken_at = ledger_now()
      FROM run_calls c WHERE c.proposal_id = NEW.id AND r.id = c.run_id AND r.state = 'suspended';
    RETURN NULL;
END $$;
CREATE TRIGGER told_when_proposed AFTER INSERT ON proposals FOR EACH ROW
    WHEN (NEW.state = 'awaiting') EXECUTE FUNCTION tell_of_proposal();
CREATE TRIGGER told_when_decided AFTER UPDATE OF state ON proposals FOR EACH ROW
    WHEN (OLD.state = 'awaiting' AND NEW.state <> 'awaiting')
    EXECUTE FUNCTION tell_of_proposal();

CREATE FUNCTION tell_of_escalation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM put_news('escalation.opened', NEW.id, '{}');
    RETURN NULL;
END $$;
CREATE TRIGGER told_when_opened AFTER INSERT ON escalations FOR EACH ROW
    EXECUTE FUNCTION tell_of_escalation();
