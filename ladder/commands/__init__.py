"""The commands `dogana ladder ...`: one module per command, which contains only its texts and exit statuses."""
