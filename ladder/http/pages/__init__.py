"""A module for each page: a plain function that asks the desk and says what the template shows."""
