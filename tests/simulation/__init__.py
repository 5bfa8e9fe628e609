"""A deployment's life over a simulated clock: seeded sequences, an oracle, and what they found."""
