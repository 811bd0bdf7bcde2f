-- End a turn at once, so that the next process need not wait for it. Parameters: consumer, holder.
UPDATE fact_cursors SET held_until = ledger_now()
 WHERE consumer = %(consumer)s AND holder = %(holder)s::uuid;
