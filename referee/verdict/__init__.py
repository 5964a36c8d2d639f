"""Is a new version of a bot better than the old one? Scores of blocks, and a sequential test on them. Pure."""
