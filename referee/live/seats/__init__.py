"""The seats of agents: their processes, output, time and resources."""
