-- Whether an effect is another operation's already. Parameters: id, reference, provider.
SELECT o.id FROM operations o
 WHERE o.reference = %(reference)s::text AND o.provider = %(provider)s::text
   AND o.id <> %(id)s::uuid LIMIT 1;
