"""`lily refresh listen`: which recipe is run for which data source."""

from pathlib import Path

import pytest

from lily.cli.metadata.refresh import recipes_by_source
from lily.model.errors import Terminal

SOURCE = '[source]\ntype = "file"\npath = "."\n'


def recipe(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(text)
    return path


def test_recipes_are_found_by_their_data_source(tmp_path: Path) -> None:
    paths = [recipe(tmp_path, f"{name}.toml", f'data_source = "{name}"\n{SOURCE}') for name in ("shop", "mall")]
    assert list(recipes_by_source(paths)) == ["shop", "mall"]


def test_a_recipe_without_a_data_source_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(Terminal, match='data_source = "shop"'):
        recipes_by_source([recipe(tmp_path, "a.toml", SOURCE)])


def test_two_recipes_of_one_data_source_are_refused(tmp_path: Path) -> None:
    text = f'data_source = "shop"\n{SOURCE}'
    with pytest.raises(Terminal, match="another recipe"):
        recipes_by_source([recipe(tmp_path, "a.toml", text), recipe(tmp_path, "b.toml", text)])


def test_recipes_that_send_to_different_places_are_refused(tmp_path: Path) -> None:
    here = recipe(tmp_path, "a.toml", f'data_source = "shop"\n{SOURCE}')
    there = recipe(tmp_path, "b.toml", f'data_source = "mall"\n{SOURCE}[sink]\nurl = "http://there"\n')
    with pytest.raises(Terminal, match="different addresses"):
        recipes_by_source([here, there])
