-- Whether a proposal stands. Parameter: id.
SELECT id, created_at FROM proposals WHERE id = %(id)s::uuid;
