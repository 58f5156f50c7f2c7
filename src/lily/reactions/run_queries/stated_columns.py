"""What the producer states about columns without saying how they use their sources, beside what the query says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lily.intake.sql.protocol import AnalysisResult, Edge
from lily.model.edges import DERIVED_FROM
from lily.reactions.run_queries.additions import is_understood, table_of


def with_stated(
    result: AnalysisResult, columns: Mapping[str, Sequence[str]], tables: Collection[str]
) -> AnalysisResult:
    """Without those of tables whose making was understood completely: a producer may take a column that only decides
    about rows for a source, and the columns of all queries of a UNION for those of the table."""
    certain = result.made if is_understood(result) else {}
    edges = [
        Edge(source, target, DERIVED_FROM)
        for target, sources in columns.items()
        if table_of(target, tables) not in certain
        for source in sources
    ]
    added = list(dict.fromkeys(edge for edge in edges if edge not in set(result.edges)))
    return replace(result, edges=[*result.edges, *added], definitions=[]) if added else result
