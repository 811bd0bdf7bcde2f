"""What the pages about questions show: causes, what is known, what can be answered."""
