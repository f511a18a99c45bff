"""Other people's text, such as a name in a profile, where it is shown.

What in it could command a terminal, or turn the order of its signs around, is written as an escape sequence such as
\\x1b.
"""

from __future__ import annotations

import json
import unicodedata


def printable(text: str) -> str:
    """`text` with control signs but the end of a line, and what is invisible, as escape sequences."""
    return text if text.isprintable() else "".join(_escaped(sign) for sign in text)


def printable_json(text: str) -> str:
    """JSON with control signs and what is invisible as JSON escapes, which `printable` leaves alone."""
    return (
        text if text.isprintable() else "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)
    )


def _escaped(sign: str) -> str:
    if sign.isprintable() or sign == "\n" or unicodedata.category(sign) == "Zs":
        return sign
    return sign.encode("unicode_escape").decode()
