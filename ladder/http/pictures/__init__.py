"""Pictures of matches: viewers, boards, live matches, charts."""
