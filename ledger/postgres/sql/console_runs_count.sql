-- Runs that have not gone on, by where they stand.
SELECT count(*) FILTER (WHERE state = 'suspended') AS suspended,
       count(*) FILTER (WHERE state = 'ready') AS ready,
       count(*) FILTER (WHERE state = 'claimed') AS claimed
  FROM runs WHERE state <> 'resumed';
