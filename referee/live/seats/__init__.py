"""Who sits there: agents with their processes, output, time and resources."""
