"""Requests over HTTP: connections, forms, limits, visitors, and prepared responses."""
