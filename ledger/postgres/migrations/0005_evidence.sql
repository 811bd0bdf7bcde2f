-- What traces and logs told of an open question's operation, gathered afterwards and for people:
-- nothing decides by it. Null until it was gathered; events and attempts are not copied into it.
ALTER TABLE escalations ADD COLUMN evidence jsonb;
