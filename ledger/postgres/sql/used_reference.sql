-- Whether an effect is another operation's already, as its own or linked to it by a person: one
-- refund by hand stands for one operation. Parameters: id, reference, provider.
SELECT o.id FROM operations o
 WHERE o.provider = %(provider)s::text AND o.id <> %(id)s::uuid
   AND (o.reference = %(reference)s::text
     OR (o.target = (SELECT own.target FROM operations own WHERE own.id = %(id)s::uuid)
         AND o.result ->> 'done_by_hand' = %(reference)s::text))
 LIMIT 1;
