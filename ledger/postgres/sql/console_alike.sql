-- Items of a waiting proposal that resemble older effects: those that the decision would name now,
-- and those that were named when it was proposed. Parameters: id, look_alike_s.
SELECT named.item, array_agg(DISTINCT named.older) AS older
  FROM (SELECT i.item, unnest(found.ids) AS older
          FROM proposal_items i
         CROSS JOIN LATERAL look_alikes(i.target, i.family,
                                        make_interval(secs => %(look_alike_s)s::double precision))
               AS found(ids)
         WHERE i.proposal_id = %(id)s::uuid
        UNION ALL
        SELECT shown.item::integer, ids.id::uuid
          FROM proposals p, jsonb_each(coalesce(p.preview -> 'repeats', '{}')) AS shown(item, older),
               jsonb_array_elements_text(shown.older) AS ids(id)
         WHERE p.id = %(id)s::uuid) AS named
 GROUP BY named.item ORDER BY named.item;
