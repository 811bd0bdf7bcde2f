SELECT ledger_id, epoch, is_test FROM ledger_identity;
