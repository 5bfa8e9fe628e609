"""The agent: it looks at a cluster, lets the rules decide, acts and records."""
