SELECT scope, set_by, reason, set_at FROM brakes ORDER BY set_at;
