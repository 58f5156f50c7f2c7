"""Names as policies compare them, and the keys under which the index finds subjects and resources.

Names of users, groups, roles, tags, entity types, data sources and assets compare without case.
"""

import unicodedata
from typing import Literal

EVERY = "*"  # as a subject everyone; as a resource any value of its kind
EVERYONE = EVERYTHING = "*"  # keys; every other key begins with the letter of its kind and a colon

SubjectKind = Literal["user", "group", "role"]
ResourceKind = Literal["asset", "tag", "entity_type", "data_source"]


def fold(name: str) -> str:
    """The form in which names are compared. For names that the model has normalised it equals `tag_key`."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def user_key(name: str) -> str:
    return f"u:{fold(name)}"


def group_key(name: str) -> str:
    return f"g:{fold(name)}"


def role_key(name: str) -> str:
    return f"r:{fold(name)}"


def id_key(asset_id: str) -> str:
    return f"i:{asset_id.lower()}"


def name_key(qualified_name: str) -> str:
    return f"n:{fold(qualified_name)}"


def tag_resource_key(tag: str) -> str:
    """With `*`: every asset that has a tag."""
    return f"t:{fold(tag)}"


def type_key(entity_type: str) -> str:
    return f"e:{fold(entity_type)}"


def source_key(data_source: str) -> str:
    """With `*`: every asset that has a data source."""
    return f"s:{fold(data_source)}"
