"""Write a picture as HTML that looks like the SVG but is shorter, for browsers without JavaScript. It is pure."""

from __future__ import annotations

import re
from html import unescape

_TAG = re.compile(r'<([a-z]+)((?: [A-Za-z:-]+="[^"]*")*)(/?)>')
_ATTRIBUTE = re.compile(r' ([A-Za-z:-]+)="([^"]*)"')
_LOOKS = {
    "fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "paint-order", "opacity",
    "font-size", "font-weight", "font-family", "text-anchor",
}  # fmt: skip
"""Attributes that are also properties of style sheets."""
_PLAIN_STYLE = re.compile(r"[\w#., '-]+")
_PLAIN_VALUE = re.compile(r"[^\s\"'`=<>]+")


def shorten(picture: str) -> tuple[str, str]:
    """Write a picture with classes for repeated attributes, and without the quotes that HTML does not need.

    Args:
        picture: an SVG document.

    Returns:
        The picture as HTML, and the style sheet of its classes `v0`, `v1` and so on.
    """
    classes: dict[str, int] = {}

    def short(tag: re.Match[str]) -> str:
        style = []
        attributes = []
        for name, value in _ATTRIBUTE.findall(tag[2]):
            plain = unescape(value)
            # A value with other characters could end its declaration and insert anything after it.
            if name in _LOOKS and _PLAIN_STYLE.fullmatch(plain):
                style.append(f"{name}:{plain}{'px' if name == 'font-size' else ''}")
            else:
                attributes.append(f"{name}={value}" if _PLAIN_VALUE.fullmatch(value) else f'{name}="{value}"')
        if style:
            attributes.append(f"class=v{classes.setdefault(';'.join(style), len(classes))}")
        # Without the space, the slash would be the last character of an unquoted value.
        return f"<{' '.join([tag[1], *attributes])}{' /' if tag[3] else ''}>"

    written = _TAG.sub(short, picture)
    return written, "\n".join(f".v{number}{{{style}}}" for style, number in classes.items())
