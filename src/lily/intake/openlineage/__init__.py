"""Converts OpenLineage events (of runs, jobs and datasets) to statements about assets and claims of edges."""

from lily.intake.openlineage.conversion import Conversion, Sender, convert
from lily.intake.openlineage.naming import Naming

__all__ = ["Conversion", "Naming", "Sender", "convert"]
