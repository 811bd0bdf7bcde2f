"""A provider to try against: a stateful fake of the Stripe API that fails on demand.

It speaks HTTP to the real Stripe SDK, keeps charges, refunds and their relatives in memory,
remembers idempotency keys as Stripe says it does, and writes every effect into a journal, so
that a test can count what really happened. It shares no code with the parts that it tests:
a belief held by both sides would never be found wrong.
"""
