# One of the packages of dogana-arena.
"""What an agent needs: the messages (`dogana.v1`, `dogana.games`, built from proto/) and the SDK (`dogana.sdk`)."""
