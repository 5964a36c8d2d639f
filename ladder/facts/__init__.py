"""What is known of a ladder, in SQLite: facts, what follows from them, and what asks them."""
