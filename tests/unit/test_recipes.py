"""Recipes: what they say, and what is wrong with one that cannot be used."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.connect.recipes import BadRecipe, expanded, read_recipe

RECIPE = """
[source]
type = "file"
path = "${DIRECTORY}/assets.csv"

[[transforms]]
type = "add-tags"
match = "*.email"
tags = ["PII", "${TAG}"]

[[transforms]]
type = "rename"
add_prefix = "$${not_a_variable}"

[sink]
token = "${TOKEN}"
"""
ENVIRONMENT = {"DIRECTORY": "/data", "TAG": "GDPR", "TOKEN": 'a "token" with\n[sink] in it'}


def written(path: Path, text: str) -> Path:
    (path / "recipe.toml").write_text(text)
    return path / "recipe.toml"


def test_a_recipe_names_a_source_transforms_and_a_sink(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, RECIPE), ENVIRONMENT)
    assert (recipe.source.type, recipe.source.settings) == ("file", {"path": "/data/assets.csv"})
    assert [part.type for part in recipe.transforms] == ["add-tags", "rename"]
    assert recipe.transforms[0].settings == {"match": "*.email", "tags": ["PII", "GDPR"]}
    assert recipe.transforms[1].settings == {"add_prefix": "${not_a_variable}"}
    assert recipe.sink.token == ENVIRONMENT["TOKEN"]
    assert ENVIRONMENT["TOKEN"] not in repr(recipe)


def test_transforms_and_sink_can_be_left_out(tmp_path: Path) -> None:
    recipe = read_recipe(written(tmp_path, '[source]\ntype = "file"\n'), {})
    assert (recipe.transforms, recipe.sink.url, recipe.sink.wait) == ((), None, None)


@given(st.dictionaries(st.text("AB"), st.text()), st.text(st.sampled_from("x $"), max_size=5))
def test_a_value_is_never_expanded_twice(environment: dict[str, str], plain: str) -> None:
    for name, value in environment.items():
        assert expanded([f"{{x{name}}}", {"key": f"${{{name}}}"}], environment)[1] == {"key": value}
    assert expanded(plain.replace("$", ""), environment) == plain.replace("$", "")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", r"`source` is missing\.$"),
        ("[source]\n", "`source.type` is missing"),
        ("source = 7", "source"),
        ("[source", "is not TOML"),
        ('[source]\ntype = "file"\n[snik]\n', r"unknown `snik`; did you mean `sink`\?$"),
        ('[source]\ntype = "file"\n[sink]\nurll = "x"\n', r"unknown `sink.urll`; did you mean `url`\?$"),
        ('[source]\ntype = "file"\n[sink]\nwait = -1\n', "sink.wait"),
        ('[source]\ntype = "${NO_SUCH_VARIABLE}"\n', r"source.type uses \${NO_SUCH_VARIABLE}, which is not set"),
        (
            '[source]\ntype = "file"\n[[transforms]]\ntype = "x"\ntags = ["${NONE}"]\n',
            r"transforms\[0\].tags\[0\] uses",
        ),
    ],
)
def test_what_is_wrong_with_a_recipe(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadRecipe, match=says):
        read_recipe(written(tmp_path, text), {})


def test_a_recipe_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadRecipe, match=r"nowhere\.toml cannot be read"):
        read_recipe(tmp_path / "nowhere.toml", {})
