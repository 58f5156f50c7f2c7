"""Ranger: the documents that a Ranger plug-in of Trino downloads. Pure: no input or output of its own.

subjects = Subjects(policies, roles, users)
ruling = Ruling(index, subjects, names, facts, context)  # who may do what, for everyone at once
made = documents(service, estate, ruling, tag_names)     # policies, tags and roles, each with its version
"""

from lily.enforce.ranger.documents import Document, Documents, Estate, documents
from lily.enforce.ranger.naming import engine_paths
from lily.enforce.ranger.rights import Ruling
from lily.enforce.ranger.subjects import Subjects
from lily.enforce.ranger.tables import PLAIN, CatalogueTable, Column, references

__all__ = [
    "PLAIN",
    "CatalogueTable",
    "Column",
    "Document",
    "Documents",
    "Estate",
    "Ruling",
    "Subjects",
    "documents",
    "engine_paths",
    "references",
]
