"""`dogana logout`."""

from __future__ import annotations

from ladder.commands.login import ServerArgument
from ladder.service.login import remember
from referee.commands.output import out


def logout(server: ServerArgument) -> None:
    """Forget the token for a ladder.

    Example:

      dogana logout https://ladder.example:8780
    """
    remember(server, None)
    out.print(f"logged out at {server}", soft_wrap=True)
