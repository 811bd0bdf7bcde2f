-- Effects on objects that a request names, in any account of the provider: what stands already,
-- even where the provider would refuse to look at it again. Parameters: objects, provider, family,
-- look_alike_s.
SELECT n.object_id, found.ids AS older
  FROM unnest(%(objects)s::text[]) AS n(object_id)
 CROSS JOIN LATERAL (
       SELECT array_agg(id) AS ids FROM provider_accounts a
        CROSS JOIN LATERAL look_alikes(a.account || '/' || n.object_id, %(family)s::text,
                   make_interval(secs => %(look_alike_s)s::double precision)) AS l(ids)
        CROSS JOIN LATERAL unnest(l.ids) AS id
        WHERE a.provider = %(provider)s::text) AS found
 WHERE found.ids IS NOT NULL;
