"""The agent against clusters: the practice one always, a real one where there is one."""
