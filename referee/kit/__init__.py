"""What games are made of: documents, chance, drawings."""
