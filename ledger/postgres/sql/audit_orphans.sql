-- The highest checkpoint that has entries. Whether it stands is compared by the caller.
SELECT coalesce(max(number), 0) AS number FROM checkpoint_entries;
