-- Parameters: number, at, epoch, operations, snapshot, root, key_id, signature.
INSERT INTO checkpoints (number, at, epoch, operations, snapshot, root, key_id, signature)
VALUES (%(number)s::bigint, %(at)s::timestamptz, %(epoch)s::integer, %(operations)s::integer,
        %(snapshot)s::pg_snapshot, %(root)s::bytea, %(key_id)s::text, %(signature)s::bytea);
