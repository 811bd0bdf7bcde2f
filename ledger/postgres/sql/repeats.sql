-- Older effects that items resemble, and targets that are busy: in doubt, or before a person who has
-- not decided, or has said no; in a restored backup all of them, since nobody knows what was done.
-- Counted, for EXISTS would be answered by reading all that is live, or all of a week.
-- Parameters: items (JSON array of item, target, family), look_alike_s.
SELECT t.item, found.ids AS older,
       0 < (SELECT count(*) FILTER (WHERE NOT x.never_send AND (x.in_doubt OR x.escalated))
              FROM operations x
             WHERE x.target = t.target AND (x.state IN ('created', 'sent') OR x.escalated))
       OR EXISTS (SELECT FROM restorations WHERE released_at IS NULL)
       OR 0 < (SELECT count(*) FILTER (
                          WHERE p.state IN ('awaiting', 'rejected')
                            AND p.created_at > (SELECT ledger_now()
                                - make_interval(secs => %(look_alike_s)s::double precision)))
                 FROM proposal_items i JOIN proposals p ON p.id = i.proposal_id
                WHERE i.target = t.target AND i.family = t.family) AS busy
  FROM jsonb_to_recordset(%(items)s::jsonb) AS t(item integer, target text, family text)
 CROSS JOIN LATERAL look_alikes(t.target, t.family,
                                make_interval(secs => %(look_alike_s)s::double precision))
       AS found(ids)
 ORDER BY t.item;
