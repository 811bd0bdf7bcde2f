"""What a worker process does: recovery, upkeep, messages."""
