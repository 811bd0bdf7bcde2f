-- Ids of a page of proposals, the newest first.
-- Parameters: state, requested_by (each or null), before (an id, or null), limit.
SELECT id FROM proposals
 WHERE (%(state)s::text IS NULL OR state = %(state)s::text)
   AND (%(requested_by)s::text IS NULL OR requested_by = %(requested_by)s::text)
   AND id < coalesce(%(before)s::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
 ORDER BY id DESC LIMIT %(limit)s::integer;
