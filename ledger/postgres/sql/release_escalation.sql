-- Whoever is on it lets go; people are paged again. Parameters: id, by.
UPDATE escalations SET claimed_by = NULL, claimed_until = NULL
 WHERE id = %(id)s::uuid AND closed_at IS NULL AND claimed_by = %(by)s::text
RETURNING id;
