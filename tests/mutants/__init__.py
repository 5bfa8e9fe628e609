"""Patches that each take one guard out, and what runs the tests that have to notice."""
