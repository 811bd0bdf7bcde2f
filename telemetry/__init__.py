"""Watch, never steer: what leaves the process, what survives it, and what people are shown."""
