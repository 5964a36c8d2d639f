"""How matches are played: a run with its workers, its queue, and newcomers."""
