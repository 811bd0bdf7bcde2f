-- Keep what the provider said, or that it said nothing, beside the dossier: the last answer stays
-- when it is silent. Parameters: id, asked (JSON), silent.
UPDATE escalations
   SET asked = jsonb_build_object(
           'last', %(asked)s::jsonb,
           'answer', CASE WHEN %(silent)s::boolean THEN asked -> 'answer' ELSE %(asked)s::jsonb END)
 WHERE id = %(id)s::uuid AND closed_at IS NULL
RETURNING asked;
