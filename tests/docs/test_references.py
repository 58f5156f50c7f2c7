"""What pages refer to exists: other pages and their headings, files, settings, metrics, topics."""

import re
from pathlib import Path

import pytest

from lily.bus.topics import TOPICS
from lily.settings import Settings
from tests.docs.blocks import PAGES, ROOT, name_of

LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)
SETTING = re.compile(r"\bLILY_[A-Z0-9_]*[A-Z0-9]\b")
METRIC = re.compile(
    r"\blily_(?:enforcement|events|grpc|http|job|jobs|lake|log|notification|oidc|outbox|pipeline|propagation|quality|reaction|relay|tls|usage)_[a-z_]+[a-z]\b"
)
TOPIC = re.compile(r"`(?P<topic>[a-z]+(?:-[a-z]+)*-events(?:-bulk)?)(?:@[a-z]+)?`")
FILE = re.compile(r"`(?P<path>[a-z_.-]+(?:/[a-z0-9_.-]+)+\.(?:py|sql|toml|proto|md))`")
TABLE = re.compile(r"\bshop\.public\.[a-z]+\b")
FOLDERS = (ROOT, ROOT / "src/lily", ROOT / "src/lily/store/postgres", ROOT / "docs")  # what paths on a page begin at
# Read by the Python client alone.
OF_THE_CLIENT = {"LILY_URL", "LILY_TOKEN", "LILY_CA", "LILY_CLIENT_CERTIFICATE", "LILY_CLIENT_KEY"}


def anchor(title: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def settings() -> set[str]:
    names = set()
    for name, field in Settings.model_fields.items():
        names.add(f"LILY_{name.upper()}")
        nested = getattr(field.annotation, "model_fields", {})
        names |= {f"LILY_{name.upper()}__{inner.upper()}" for inner in nested}
    return names


@pytest.mark.parametrize("page", PAGES, ids=map(name_of, PAGES))
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.finditer(page.read_text()):
        path, _, fragment = link["target"].partition("#")
        if path.startswith(("http:", "https:")):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)}: {link[0]}"
        if fragment:
            anchors = {anchor(heading["title"]) for heading in HEADING.finditer(target.read_text())}
            assert fragment in anchors, f"{name_of(page)}: {link[0]}"


@pytest.mark.parametrize("page", PAGES, ids=map(name_of, PAGES))
def test_files_exist(page: Path) -> None:
    for named in FILE.finditer(page.read_text()):
        assert any((folder / named["path"]).exists() for folder in FOLDERS), f"{name_of(page)}: {named['path']}"


@pytest.mark.parametrize("page", PAGES, ids=map(name_of, PAGES))
def test_settings_exist(page: Path) -> None:
    known = settings() | OF_THE_CLIENT | {f"LILY_{name.upper()}_" for name in Settings.model_fields}
    assert set(SETTING.findall(page.read_text())) <= known


@pytest.mark.parametrize("page", PAGES, ids=map(name_of, PAGES))
def test_topics_exist(page: Path) -> None:
    assert {found["topic"] for found in TOPIC.finditer(page.read_text())} <= set(TOPICS)


def test_metrics_exist() -> None:
    source = "\n".join(file.read_text() for file in (ROOT / "src").rglob("*.py"))
    known = set(re.findall(r'"(lily_[a-z_]+)"', source))
    for page in PAGES:
        named = {name.removesuffix("_total") for name in METRIC.findall(page.read_text())}
        assert named <= known, name_of(page)


def test_the_glossary_has_every_term_once_in_alphabetical_order() -> None:
    terms = [
        heading["title"].strip("`").lower() for heading in HEADING.finditer((ROOT / "docs/glossary.md").read_text())
    ]
    assert terms[1:] == sorted(set(terms[1:]))


def test_decisions_have_a_number_each() -> None:
    decisions = sorted((ROOT / "docs/decisions").glob("*.md"))
    numbers = [int(decision.name.partition("-")[0]) for decision in decisions]
    assert len(set(numbers)) == len(numbers)
    for number, decision in zip(numbers, decisions, strict=True):
        assert decision.read_text().startswith(f"# {number}. ")


@pytest.mark.parametrize("page", ["docs/guide.md", "docs/how-to/enforce-in-postgresql.md"])
def test_the_readme_leaves_the_assets_of_the_next_pages_alone(page: str) -> None:
    """A reader follows both, one after the other: the guide shows its assets complete, the other page untagged."""
    first, then = (set(TABLE.findall((ROOT / name).read_text())) for name in ("README.md", page))
    assert first
    assert then
    assert not first & then
