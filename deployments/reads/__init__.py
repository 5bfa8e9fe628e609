"""Every query that returns values. Nothing here writes."""
