"""How strangers come in: authors and their tokens, uploads, the files of bots, bots at home."""
