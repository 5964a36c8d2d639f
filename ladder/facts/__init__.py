"""The facts of a ladder in SQLite, the views that follow from them, and the queries over the views."""
