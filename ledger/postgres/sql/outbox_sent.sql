-- A message has arrived. Parameters: id, attempts, receipt.
UPDATE outbox SET sent_at = ledger_now(), receipt = %(receipt)s::jsonb, last_error = NULL
 WHERE id = %(id)s::uuid AND attempts = %(attempts)s::integer AND sent_at IS NULL
RETURNING id;
