"""Converts OpenLineage events (of runs, jobs and datasets) to statements about assets and claims of edges."""

from lily.intake.openlineage.conversion import Conversion, convert
from lily.intake.openlineage.intake import OpenLineage, OpenLineageConfig
from lily.intake.openlineage.naming import Naming

__all__ = ["Conversion", "Naming", "OpenLineage", "OpenLineageConfig", "convert"]
