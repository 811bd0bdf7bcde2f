-- Whether a proposal stands. Parameter: id.
SELECT id FROM proposals WHERE id = %(id)s::uuid;
