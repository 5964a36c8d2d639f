"""The matches that are being played."""

from __future__ import annotations

from dogana.v1 import ladder_pb2 as pb
from ladder.http.requests.asked import Asked, Page


def live(asked: Asked) -> Page:
    """Return the list of what is being played."""
    return Page("live.html", {"matches": asked.desk.playing(pb.PlayingRequest()).matches})
