-- When this version of the policy came into force last, and when a broken file was found since.
-- Parameter: version (as text).
SELECT (SELECT at FROM deeds WHERE what IN ('policy.loaded', 'policy.broken')
           AND what = 'policy.loaded' AND subject = %(version)s::text
         ORDER BY at DESC, id DESC LIMIT 1) AS loaded_at,
       (SELECT CASE WHEN what = 'policy.broken' THEN at END FROM deeds
         WHERE what IN ('policy.loaded', 'policy.broken')
         ORDER BY at DESC, id DESC LIMIT 1) AS broken_at;
