"""What people do in a browser: authors' pages, tables."""
