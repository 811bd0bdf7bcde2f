-- Ids of a page of proposals that still wait for a person, the newest first: those alone are read,
-- however many were decided. Parameters: requested_by (or null), before (an id, or null), limit.
SELECT id FROM proposals
 WHERE state = 'awaiting' AND expires_at > ledger_now()
   AND (%(requested_by)s::text IS NULL OR requested_by = %(requested_by)s::text)
   AND id < coalesce(%(before)s::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
 ORDER BY id DESC LIMIT %(limit)s::integer;
