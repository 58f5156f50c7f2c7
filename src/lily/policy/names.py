"""Names as policies compare them, and the keys under which the index finds subjects and resources.

Names of users, groups, roles, tags, entity types, data sources and assets compare without case.
"""

import unicodedata
from functools import partial
from typing import Literal

from lily.model.assets import tag_key

EVERY = "*"  # as a subject everyone; as a resource any value of its kind
EVERYONE = EVERYTHING = "*"  # keys; every other key begins with the letter of its kind and a colon

SubjectKind = Literal["user", "group", "role"]
ResourceKind = Literal["asset", "tag", "entity_type", "data_source"]


def fold(name: str) -> str:
    """The form in which names are compared. That of tags is `tag_key`: it is stored with assets, and differs."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def tag_resource_key(tag: str) -> str:
    """With `*`: every asset that has a tag."""
    return f"t:{tag_key(tag)}"


def id_key(asset_id: str) -> str:
    return f"i:{asset_id.lower()}"


def _key(kind: str, name: str) -> str:
    return f"{kind}:{fold(name)}"


user_key = partial(_key, "u")
group_key = partial(_key, "g")
role_key = partial(_key, "r")
name_key = partial(_key, "n")  # of an asset's qualified name
type_key = partial(_key, "e")
source_key = partial(_key, "s")  # with `*`: every asset that has a data source
