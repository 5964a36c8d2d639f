"""The format of help pages: complete summaries, commands in sections, placeholders and ranges in words, and examples to paste."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typing_extensions import override

from ladder.operation.errors import LadderError

OTHER_WORDS = {
    "leaderboard": "ladder top",
    "ranking": "ladder top",
    "ratings": "ladder top",
    "standings": "ladder top",
    "upload": "ladder submit",
    "history": "ladder matches",
    "init": "new",
    "create": "new",
    "test": "check",
    "match": "play",
    "view": "replay",
}
"""Words that people may type instead of the name of a command, each with the intended command."""
EXACTLY = {
    "list": ["games"],
    "ladder list": ["ladder bots", "ladder matches"],
    "version": ["--version"],
    "ladder version": ["--version"],
}
"""Complete command lines whose last word resembles the last word of another command, with the commands that may be meant."""
_EXAMPLES = re.compile(r"^Examples?:$", re.MULTILINE)
_WORD = re.compile(r"""(?:--?[a-z-]+\s(?!-))?(?:[^\s'"]|'[^']*'|"[^"]*")+""")
"""A word of a command, or an option together with its value."""
_NUMBERS = {int: "a whole number", float: "a number"}


def summary(text: str) -> str:
    """Return the first paragraph of a help text, on one line."""
    return " ".join(text.split("\n\n")[0].split()).removesuffix(".")


def examples(text: str) -> list[str]:
    """Return the commands in the examples of a help text."""
    found = _EXAMPLES.search(text)
    return [" ".join(part.split()) for part in text[found.end() :].split("\n\n") if part.strip()] if found else []


def folded(command: str, width: int) -> list[str]:
    """Wrap a command between words, so that a shell reads the lines as one command."""
    first, *words = _WORD.findall(command)
    lines = [first]
    for word in words:
        if len(lines[-1]) + 1 + len(word) + 2 > width:  # 2 for a space and the backslash
            lines[-1] += " \\"
            lines.append("  " + word)
        else:
            lines[-1] += " " + word
    return lines


def placeholder(param: Any) -> str:
    """Return the placeholder for the value of an option or an argument, or an empty text for a flag."""
    if getattr(param, "is_flag", False):
        return ""
    if param.metavar is None and param.type_descriptor.choices:
        return "|".join(str(choice.value) for choice in param.type_descriptor.choices)
    return f"{param.metavar or ''}{'...' if param.nargs == -1 else ''}"


def _default(param: Any, ctx: typer.Context) -> str:
    # A default in words stands for a value that is determined when the command runs.
    if isinstance(param.show_default, str):
        return str(param.show_default)
    value = param.get_default(ctx, call=False)
    if not param.show_default or value is None or value is False or value in ("", [], ()) or callable(value):
        return ""
    if value is True:
        return str(param.opts[0].lstrip("-"))
    if isinstance(value, Enum):
        return str(value.value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _range(param: Any) -> str:
    low, high = param.min, param.max
    if high is None:
        return "" if low is None else f"at least {low}"
    return f"at most {high}" if low is None else f"{low} to {high}"


def _row(param: Any, ctx: typer.Context) -> tuple[str, str]:
    """Return the form of an option or an argument, and its description."""
    optional = param.param_type_name == "option"
    names = [", ".join(sorted(param.opts, key=len)), *param.secondary_opts] if optional else []
    default = _default(param, ctx)
    notes = [_range(param), f"default: {default}" if default else "", "required" if optional and param.required else ""]
    remark = "; ".join(note for note in notes if note)
    written = f"{' / '.join(names)} {placeholder(param)}".strip()
    return written, f"{param.help or ''} [{remark}]".strip() if remark else param.help or ""


def _may_be(param: Any) -> str:
    """Return the possible values of a missing parameter, in words."""
    if placeholder(param) == "GAME":
        from referee.registry import games  # help pages need not wait for this

        return f"The games are: {', '.join(games())}."
    return param.help or ""


def _write_rows(formatter: Any, heading: str, rows: Sequence[tuple[str, str]]) -> None:
    if rows:
        with formatter.section(heading):
            formatter.write_dl(rows, col_max=formatter.width // 3)  # longer names have a line of their own


class _Page:
    """The features that the help pages of commands and groups share."""

    help: str | None

    def get_short_help_str(self, limit: int = 0) -> str:
        """Return the complete summary."""
        return summary(self.help or "")

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the help text, with its examples ready to paste."""
        text = self.help or ""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(_EXAMPLES.split(text)[0].strip())
        if commands := examples(text):
            with formatter.section("Examples"):
                for command in commands:
                    for line in folded(command, formatter.width - formatter.current_indent):
                        formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def write_parameters(self, params: Sequence[Any], ctx: Any, formatter: Any) -> None:
        visible = [param for param in params if not param.hidden]
        for kind in ("argument", "option"):
            rows = [_row(param, ctx) for param in visible if param.param_type_name == kind]
            _write_rows(formatter, f"{kind.capitalize()}s", rows)


class PagedCommand(_Page, TyperCommand):
    """A command whose help page has the format of this module."""

    @override
    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces = ["[OPTIONS]"]
        for param in self.get_params(ctx):
            if param.param_type_name == "argument":
                pieces.append(placeholder(param) if param.required else f"[{placeholder(param)}]")
        return pieces

    @override
    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.write_parameters(self.get_params(ctx), ctx, formatter)

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a command line; describe malformed and missing values in the same words as the help page."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            param: Any = error.param
            if type(error) is not typer.BadParameter and param is not None:  # a subclass: the value is missing
                error.message = _may_be(param)
            if type(error) is typer.BadParameter and param is not None:
                if kind := _NUMBERS.get(param.type_descriptor.annotation):
                    error.message = ", ".join(filter(None, [f"must be {kind}", _range(param)]))
                elif param.type_descriptor.choices:
                    error.message = f"must be one of {placeholder(param).replace('|', ', ')}"
            raise

    @override
    def invoke(self, ctx: Any) -> Any:
        """Prepare for signals as `cli.main` requires, and call the command's function.

        If an error names a command that helps, the command is added to the text of the error.
        """
        ctx.obj()
        try:
            return super().invoke(ctx)
        except LadderError as error:
            if not error.command:
                raise
            from ladder.commands.where import Where  # help pages need not wait for this

            where = Where.chosen(ctx.params.get("home"), ctx.params.get("server"))
            raise LadderError(f"{error}; {error.lead} {where.command(*error.command.split())}") from error


class PagedGroup(_Page, TyperGroup):
    """A group of commands whose help page has the format of this module."""

    sections: Mapping[str, Sequence[str]] = {}
    """The names of its commands by heading; empty if one heading is enough."""

    @override
    def format_options(self, ctx: Any, formatter: Any) -> None:
        commands = self.commands
        for heading, names in (self.sections or {"Commands": list(commands)}).items():
            _write_rows(formatter, heading, [(name, commands[name].get_short_help_str()) for name in names])
        self.write_parameters(self.get_params(ctx), ctx, formatter)

    @override
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command; `help COMMAND` prints its help page."""
        word, *others = args
        if word in self.commands or word.startswith("-"):
            return super().resolve_command(ctx, args)
        if word == "help":
            if others:
                return self.resolve_command(ctx, [*others, "--help"])
            self.parse_args(ctx, ["--help"])  # prints the page and exits
        meant = " or ".join(f"`{path}`" for path in _meant(word, ctx))
        return ctx.fail(f"No such command {word!r}." + (f" Did you mean {meant}?" if meant else ""))


def _meant(word: str, ctx: Any) -> list[str]:
    """Return the commands that a user may have meant by a wrong word, as typed; the current group comes first."""
    root = ctx.find_root()
    _, *groups = ctx.command_path.split()
    if paths := EXACTLY.get(" ".join([*groups, word.lower()])):
        return [f"{root.info_name} {path}" for path in paths]
    # Several commands end in the same word, such as `ladder show` and `tournament show`.
    known: dict[str, list[str]] = {}
    for path in _paths(root.command):
        known.setdefault(path.split()[-1], []).append(f"{root.info_name} {path}")
    for other, path in OTHER_WORDS.items():
        known.setdefault(other, []).append(f"{root.info_name} {path}")
    return [
        path
        for near in get_close_matches(word.lower(), known, n=1)
        for path in sorted(known[near], key=lambda path: not path.startswith(ctx.command_path))
    ]


def _paths(group: Any) -> Iterator[str]:
    """Yield the commands below a group, such as `ladder top`."""
    for name, command in group.commands.items():
        yield name
        if isinstance(command, TyperGroup):
            yield from (f"{name} {path}" for path in _paths(command))
