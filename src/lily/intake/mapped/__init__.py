"""Mappings: what of a source's messages becomes which field of an incident, stated as data instead of code."""

from lily.intake.mapped.intake import Mapped
from lily.intake.mapped.mapping import Mapping, is_mapping_name
from lily.intake.mapped.shipped import shipped

__all__ = ["Mapped", "Mapping", "is_mapping_name", "shipped"]
