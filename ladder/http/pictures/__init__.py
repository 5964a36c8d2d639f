"""Matches to look at: viewers, boards, live matches, charts."""
