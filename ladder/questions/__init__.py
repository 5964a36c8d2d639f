"""The questions to a ladder, and the changes of it: a message in, a message out."""
