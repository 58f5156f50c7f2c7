"""All mutants."""

from tests.mutants import (
    both_stores,
    doors,
    held,
    held_sql,
    intake,
    lineage,
    model,
    plain,
    policy,
    relay,
    retention,
    sql,
    websocket,
)

_SUBJECTS = (
    model,
    plain,
    held,
    lineage,
    intake,
    policy,
    websocket,
    relay,
    sql,
    held_sql,
    both_stores,
    retention,
    doors,
)
MUTANTS = [mutant for subject in _SUBJECTS for mutant in subject.MUTANTS]
