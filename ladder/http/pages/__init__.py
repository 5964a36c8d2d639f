"""One module per page, each with a plain function that queries the desk and returns the values for the template."""
