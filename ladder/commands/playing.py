"""`dogana ladder playing`."""

from __future__ import annotations

import shlex

from ladder.commands.options import AsJson
from ladder.commands.tables import moment, table
from ladder.commands.where import FolderOption, ServerOption, Where
from ladder.questions.matches import PlayingRequest
from ladder.questions.question import document
from ladder.service.login import login_of
from referee.commands.output import out, print_json


def playing(home: FolderOption = None, server: ServerOption = None, as_json: AsJson = False) -> None:
    """List the running matches.

    It also prints a command to watch the first one.

    Examples:

      dogana ladder playing

      dogana ladder playing --server https://ladder.example:8780
    """
    where = Where.chosen(home, server)
    matches = where.ask(PlayingRequest()).matches
    if as_json:
        print_json([document(match) for match in matches])
        return
    if not matches:
        out.print("no match is being played")
        return
    listed = table("match", "began (UTC)", "game", "bots", whole={"match"})
    for match in matches:
        listed.add_row(match.match, moment(match.started_at), f"{match.game} ({match.terms})", ", ".join(match.bots))
    out.print(listed)
    words = ["dogana", "watch", matches[0].address or where.server or "", matches[0].match]
    # The gRPC port is encrypted if the pages are.
    if where.server is not None and where.server.startswith("https:"):
        authority = login_of(where.server).authority
        words += ["--tls"] if authority is None else ["--ca", authority]
    out.print(f"watch it: {shlex.join(words)}", soft_wrap=True)
