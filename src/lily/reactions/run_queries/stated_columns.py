"""What the producer states about columns without saying how they use their sources, beside what the query says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lily.intake.sql.protocol import AnalysisResult, Edge
from lily.model.edges import DERIVED_FROM
from lily.reactions.run_queries.additions import is_understood, table_of


def with_stated(
    result: AnalysisResult,
    columns: Mapping[str, Sequence[str]],
    tables: Collection[str],
    confirmed: Collection[str],
    *,
    combines: bool = False,
) -> AnalysisResult:
    """Without those of tables whose making was understood completely: a producer may take a column that only decides
    about rows for a source, and the columns of all queries of a UNION for those of the table. What the query makes
    may not be all there is if the producer's schema has more: columns that it has are `confirmed`. If it is only not
    known what `*` stands for, the columns that the query names are understood, unless it `combines` queries: these
    match by their positions."""
    made = result.made if is_understood(result) else {}
    known = made or ({} if combines else result.named)
    certain = {f"{table}.{column}".lower() for table, names in known.items() for column in names}
    edges = [
        Edge(source, target, DERIVED_FROM)
        for target, sources in columns.items()
        if target.lower() not in certain and (target in confirmed or table_of(target, tables) not in made)
        for source in sources
    ]
    added = list(dict.fromkeys(edge for edge in edges if edge not in set(result.edges)))
    return replace(result, edges=[*result.edges, *added], definitions=[]) if added else result
