SELECT ledger_now() AS at;
