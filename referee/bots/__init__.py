"""What people hand in as a bot: which files it has, and how they are started. Nothing is run here."""
