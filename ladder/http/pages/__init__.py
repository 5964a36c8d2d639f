"""A module for each page: a plain function that asks the desk and returns the values for the template."""
