"""Text of others is legible and short enough; a link is one that people can open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.connect.channels.texts import ELLIPSIS, legible, link, one_line, shortened, shortened_bytes

LINKS = [
    "https://lily.example/incidents/7?from=alert&to=me#history",
    "http://10.0.0.1:8585/x",
    "https://[2001:db8::1]/x",
]
NO_LINKS = [
    "",
    "//lily.example/x",
    "javascript:alert(1)",
    "data:text/html,x",
    "ftp://lily.example/x",
    "https://ann:secret@lily.example/",
    "https://lily.example/x y",
    'https://lily.example/"onclick=alert(1)',
    "https://lily.example/'x",
    "https://lily.example/<b>",
    "https://lily.example/x>|y",
    "https://lily.example/\n",
    "https://lily.example/#a b",
    "https://lily.example/ä",
    f"https://lily.example/{'x' * 2_000}",
]


@given(st.text(), st.integers(1, 40))
def test_a_text_is_cut_to_its_limit_and_no_shorter(text: str, limit: int) -> None:
    cut = shortened(text, limit)
    assert len(cut) == min(limit, len(text))
    assert cut in {text, text[: limit - 1] + ELLIPSIS}


@given(st.text(st.characters(codec="utf-8")), st.integers(3, 60))
def test_bytes_are_counted_where_a_receiver_counts_them(text: str, limit: int) -> None:
    cut = shortened_bytes(text, limit)
    assert len(cut.encode()) <= limit
    assert cut == text or (cut.endswith(ELLIPSIS) and text.startswith(cut[:-1]))


def test_an_escape_is_never_cut_in_two() -> None:
    assert [shortened("a&&", limit, lambda one: one.replace("&", "&amp;")) for limit in (5, 6, 7, 10, 11)] == [
        "a…",
        "a…",
        "a&amp;…",
        "a&amp;…",
        "a&amp;&amp;",
    ]


@given(st.text())
def test_what_is_legible_has_no_controls_and_stays_so(text: str) -> None:
    found = legible(text)
    assert found.encode().decode() == found
    assert all(letter.isprintable() or letter in "\n\t" or ord(letter) >= 0xA0 for letter in found)
    assert legible(found) == found
    assert "\n" not in one_line(text)


def test_controls_and_directions_are_left_out() -> None:
    assert legible(" a\r\nb\rc\td\x00\x1b[31m\x7f\x85\u2028\u202eevil\u2066 ") == "a\nb\nc\td[31mevil"


@pytest.mark.parametrize("url", LINKS)
def test_a_link_of_the_web_is_passed_on(url: str) -> None:
    assert link(url) == url


@pytest.mark.parametrize("url", NO_LINKS)
def test_anything_else_is_not(url: str) -> None:
    assert link(url) == ""
