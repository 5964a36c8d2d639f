"""Building blocks for games: documents, chance and drawings."""
