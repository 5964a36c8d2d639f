"""Rendering answers as pages: templates, links, words."""
