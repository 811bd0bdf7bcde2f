-- What waits, in numbers: from partial indexes only, so that a scrape costs the same at any size.
SELECT (SELECT count(*) FROM operations WHERE next_check_at < ledger_now()) AS due,
       (SELECT count(*) FROM proposals WHERE state = 'awaiting') AS awaiting,
       (SELECT count(*) FROM outbox WHERE sent_at IS NULL AND gave_up_at IS NULL) AS outbox_waiting,
       (SELECT count(*) FROM outbox WHERE sent_at IS NULL AND gave_up_at IS NULL
                                      AND last_error IS NOT NULL) AS outbox_failing,
       (SELECT coalesce(extract(epoch FROM ledger_now() - min(created_at)), 0)::float8
          FROM outbox WHERE sent_at IS NULL AND gave_up_at IS NULL) AS outbox_oldest_s,
       (SELECT count(*) FROM workers WHERE ended_at IS NULL AND heartbeat_at > ledger_now()
               - make_interval(secs => %(ttl_s)s::double precision)) AS workers,
       (SELECT count(*) FROM breakers WHERE open_until > ledger_now()) AS breakers,
       (SELECT count(*) FROM brakes) AS brakes;
