"""`dogana connect`: a bot on its author's machine plays the matches of a ladder elsewhere."""
