"""What can be asked of a ladder, and done to it: a message in, a message out."""
