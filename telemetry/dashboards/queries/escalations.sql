-- Questions put to people, by reason: how many, how many still stand, and since when.
SELECT arrayJoin(reasons) AS reason,
       countIf(asked_at >= {from:DateTime64(3, 'UTC')} AND asked_at < {to:DateTime64(3, 'UTC')})
           AS questions,
       countIf(ended_at IS NULL) AS still_open,
       if(still_open = 0, NULL, minIf(asked_at, ended_at IS NULL)) AS oldest
  FROM outlive_matters_once
 WHERE what = 'question'
   AND (ended_at IS NULL OR asked_at >= {from:DateTime64(3, 'UTC')})
 GROUP BY reason ORDER BY questions DESC, reason
