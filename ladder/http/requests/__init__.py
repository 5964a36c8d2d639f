"""What comes over HTTP: connections, forms, limits, visitors, and answers that are kept."""
