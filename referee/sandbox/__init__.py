"""Isolation of agents: limits on what a stranger's program can see, use and reach on this machine."""
