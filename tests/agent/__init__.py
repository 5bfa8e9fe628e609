"""What the agent sees and writes, without a cluster."""
