"""What agents want, from the door to what becomes of it."""
