"""The ladder for browsers and programs that speak HTTP."""
