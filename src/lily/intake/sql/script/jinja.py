"""Jinja that was left in a script: the model was not compiled."""

import re
from bisect import bisect_right

_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_MARKS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_NOT_A_LINE_END = re.compile(r"[^\n]")


class Jinja:
    """`text` is the script with Jinja's expressions replaced by names, and its statements by spaces, in the same
    places."""

    def __init__(self, script: str) -> None:
        script = _COMMENT.sub(lambda found: _NOT_A_LINE_END.sub(" ", found[0]), script)
        self._found = [(mark.start(), mark.end(), mark[0]) for mark in _MARKS.finditer(script)]
        self.text = _MARKS.sub(_placeholder, script) if self._found else script

    def between(self, start: int, end: int, strings: list[tuple[int, int]]) -> str | None:
        """The first mark in this part of the script. In a string it does not matter."""
        first = bisect_right(self._found, start, key=lambda found: found[1])
        for begin, until, mark in self._found[first:]:
            if begin >= end:
                return None
            if not any(s <= begin and until <= e for s, e in strings):
                return mark
        return None


def reason(mark: str) -> str:
    return f"it contains the Jinja template {' '.join(mark.split())[:80]}; send the compiled SQL (dbt: target/compiled)"


def _placeholder(mark: re.Match[str]) -> str:
    blank = _NOT_A_LINE_END.sub(" ", mark[0])
    return "jinja" + blank[5:] if mark[0].startswith("{{") else blank
