-- Everything up to here is copied. Parameters: consumer, holder, xid, operation_id, seq.
UPDATE fact_cursors
   SET xid = %(xid)s::text::xid8, operation_id = %(operation_id)s::uuid, seq = %(seq)s::bigint
 WHERE consumer = %(consumer)s AND holder = %(holder)s::uuid
RETURNING consumer;
