"""The fenced code blocks of a page, and what its author says about them.

The first word behind a fence is the language. `not-run="REASON"` marks a block that no test can run, `response` a block
of JSON that shows the response to the request before it, or of text that shows the output of the commands before it,
and `refused` a request that Lily refuses, or a command that fails.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>.*)$")
_INFO = re.compile(r'^(?P<language>[a-z]*)( (?P<role>response|refused))?( not-run="(?P<reason>[^"]+)")?$')


@dataclass(frozen=True)
class Block:
    page: str
    line: int  # of the first line inside the fence
    language: str
    text: str
    not_run: str = ""
    role: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line} ({self.language})"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    return read_blocks(name_of(page), page.read_text())


def read_blocks(page: str, markdown: str) -> list[Block]:
    """Raises ValueError for a fence that is not closed or that has words this module does not know, and for an indented
    block: its language is nowhere stated, so no test could run it."""
    blocks: list[Block] = []
    opened: tuple[int, re.Match[str]] | None = None
    lines = markdown.splitlines()
    for number, line in enumerate(lines, start=1):
        fence = _FENCE.match(line)
        if fence is None:
            if opened is None and line.startswith("    ") and not lines[number - 2].strip():
                raise ValueError(f"{page}:{number}: an indented block. Put it between ``` and name its language.")
        elif opened is None:
            opened = (number, fence)
        else:
            start, opening = opened
            inside = [text.removeprefix(opening["indent"]) for text in lines[start : number - 1]]
            blocks.append(_block(page, start + 1, opening["info"], "\n".join(inside) + "\n"))
            opened = None
    if opened is not None:
        raise ValueError(f"{page}:{opened[0]}: a fence that is never closed.")
    return blocks


def _block(page: str, line: int, info: str, text: str) -> Block:
    words = _INFO.match(info)
    if words is None:
        raise ValueError(f'{page}:{line - 1}: ```{info} is not ```LANGUAGE, optionally with not-run="REASON".')
    return Block(page, line, words["language"], text, words["reason"] or "", words["role"] or "")
