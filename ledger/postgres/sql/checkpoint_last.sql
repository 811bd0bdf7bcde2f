-- Take turns, then read where to go on: the next number, the root it follows, and a snapshot of
-- what has been entered. That snapshot means nothing where transaction numbers began anew (another
-- epoch, or a database that was loaded from a dump); then everything is entered again.
-- The lock is taken by a statement of its own (checkpoint_lock), so that this one sees what was
-- committed while it waited. The time is read before the snapshot of the entries is taken.
SELECT ledger_now() AS at, i.ledger_id, i.epoch, coalesce(c.number, 0) + 1 AS number,
       coalesce(c.root, '') AS previous_root,
       CASE WHEN c.epoch = i.epoch
             AND pg_snapshot_xmax(c.snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
            THEN c.snapshot::text ELSE '1:1:' END AS seen
  FROM ledger_identity i
  LEFT JOIN (SELECT * FROM checkpoints ORDER BY number DESC LIMIT 1) c ON true;
