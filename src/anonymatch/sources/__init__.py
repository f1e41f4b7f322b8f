"""Where graphs come from: relay topologies, message logs, tables."""
