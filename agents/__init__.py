"""Agents: the Python SDK, the house bots, and starter kits in other languages."""
