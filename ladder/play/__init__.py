"""Playing matches: a run with its workers, its queue, and newcomers."""
