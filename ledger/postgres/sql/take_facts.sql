-- Be the one that copies for a while: at most one holder at a time, a dead one's turn ends.
-- A cursor ahead of every transaction is that of another server (a dump was restored): it begins
-- anew, and what is copied twice counts once. Parameters: consumer, holder, hold_s.
INSERT INTO fact_cursors AS c (consumer, holder, held_until)
VALUES (%(consumer)s, %(holder)s::uuid,
        ledger_now() + make_interval(secs => %(hold_s)s::double precision))
    ON CONFLICT (consumer) DO UPDATE
   SET holder = excluded.holder, held_until = excluded.held_until,
       xid = CASE WHEN c.xid >= pg_snapshot_xmax(pg_current_snapshot()) THEN '0' ELSE c.xid END
 WHERE c.holder = excluded.holder OR c.held_until <= ledger_now()
RETURNING c.xid::text, c.operation_id, c.seq;
