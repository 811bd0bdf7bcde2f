-- After a backup was restored: sweep once more from before it. Parameters: slack_s.
UPDATE sweeps s
   SET swept_until = least(s.swept_until, r.backup_at
                           - make_interval(secs => %(slack_s)s::double precision)),
       since = NULL, until = NULL, page = NULL, taken_until = NULL, trouble = NULL
  FROM restorations r WHERE r.released_at IS NULL;
