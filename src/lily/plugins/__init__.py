"""Plug-ins: one port per entry-point group, and the registry that finds what is installed.

A plug-in is a class that an entry point of its distribution names. It imports this package and `lily.model`, never
another plug-in. docs/how-to/write-a-plugin.md builds one from nothing; `lily.testing` has the behaviour suites.
"""

from lily.plugins.channels import Channel, DestinationGone, Mention, Notification
from lily.plugins.connectors import Connector, SourceAsset, SourceEdge, SourceItem
from lily.plugins.enforcers import (
    Decision,
    Drift,
    Enforcer,
    Failure,
    Finding,
    Inventory,
    Plan,
    Step,
    TargetColumn,
    TargetGone,
    TargetRole,
    TargetTable,
)
from lily.plugins.formats import BlankRows, Format, Row, Splitter, WholeBody
from lily.plugins.groups import CHANNELS, CONNECTORS, ENFORCERS, FORMATS, GROUPS, INTAKES, TRANSFORMS, Group
from lily.plugins.intakes import Delivery, Event, Handshake, Intake, Sender
from lily.plugins.registry import BadConfiguration, BrokenPlugin, Plugin, Registry, UnknownPlugin, installed
from lily.plugins.surroundings import Situated, Surroundings, situated
from lily.plugins.transforms import Transform

__all__ = [
    "CHANNELS",
    "CONNECTORS",
    "ENFORCERS",
    "FORMATS",
    "GROUPS",
    "INTAKES",
    "TRANSFORMS",
    "BadConfiguration",
    "BlankRows",
    "BrokenPlugin",
    "Channel",
    "Connector",
    "Decision",
    "Delivery",
    "DestinationGone",
    "Drift",
    "Enforcer",
    "Event",
    "Failure",
    "Finding",
    "Format",
    "Group",
    "Handshake",
    "Intake",
    "Inventory",
    "Mention",
    "Notification",
    "Plan",
    "Plugin",
    "Registry",
    "Row",
    "Sender",
    "Situated",
    "SourceAsset",
    "SourceEdge",
    "SourceItem",
    "Splitter",
    "Step",
    "Surroundings",
    "TargetColumn",
    "TargetGone",
    "TargetRole",
    "TargetTable",
    "Transform",
    "UnknownPlugin",
    "WholeBody",
    "installed",
    "situated",
]
