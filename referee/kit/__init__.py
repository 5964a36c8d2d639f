"""Building blocks for games: documents, chance, drawings."""
