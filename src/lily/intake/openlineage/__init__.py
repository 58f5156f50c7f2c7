"""OpenLineage: what an event of a run, a job or a dataset says, as statements about assets and claims of edges."""

from lily.intake.openlineage.conversion import Conversion, convert
from lily.intake.openlineage.intake import OpenLineage, OpenLineageConfig
from lily.intake.openlineage.names import Naming

__all__ = ["Conversion", "Naming", "OpenLineage", "OpenLineageConfig", "convert"]
