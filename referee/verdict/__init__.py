"""Pure code that decides whether a new version of a bot is better than the old one, by a sequential test on blocks."""
