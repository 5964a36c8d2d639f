"""How pages are made of answers: templates, links, words."""
