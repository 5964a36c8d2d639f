"""`dogana ladder ...`: a module for each command. Words and exit statuses, and nothing else."""
