-- Answers by two people, what the provider said when somebody asked again, and many answers at once.

-- The first of two people has signed an answer: to this question, on this case, and to no other.
CREATE TABLE signatures (
    escalation_id uuid        NOT NULL,
    signer        text        NOT NULL,
    case_version  bigint      NOT NULL,  -- of the operation; 0 where the question is about none
    answer        jsonb       NOT NULL,  -- verdict, reference, until
    digest        text        NOT NULL,  -- over the answer
    note          text        NOT NULL,
    signed_at     timestamptz NOT NULL,
    PRIMARY KEY (escalation_id, signer)
);

ALTER TABLE escalations
    ADD COLUMN asked_at timestamptz,  -- when somebody last had the provider asked
    ADD COLUMN asked    jsonb;        -- what came of it (`last`), and the last answer (`answer`)

-- One request that answers many questions: repeated under its key, it finds what it did.
CREATE TABLE bulk_answers (
    answered_by text        NOT NULL,
    request_key text        NOT NULL,
    digest      text        NOT NULL,
    began_at    timestamptz NOT NULL,
    result      jsonb,                -- null while it is under way
    PRIMARY KEY (answered_by, request_key)
);

-- The list of open questions is read in this order, however many have been closed.
CREATE INDEX escalations_open
    ON escalations (window_ends_at, amount_minor DESC NULLS LAST, opened_at)
    WHERE closed_at IS NULL;
