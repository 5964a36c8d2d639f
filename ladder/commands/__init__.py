"""`dogana ladder ...`: a module for each command, with nothing but its texts and exit statuses."""
