"""The truth: a transactional record of operations. Imports nothing of ours."""
