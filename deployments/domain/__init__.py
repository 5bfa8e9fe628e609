"""The rules of a deployment as values and pure functions: no Django, no clock, no I/O."""
