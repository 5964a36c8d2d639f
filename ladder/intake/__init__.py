"""The entrance for strangers: authors and their tokens, uploads, the files of bots, and bots at home."""
