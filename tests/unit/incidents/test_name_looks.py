"""How often names that no asset has are looked for again."""

from lily.reactions.incidents.names import COST, LONGEST, SHORTEST, pause


def test_new_names_are_looked_for_often_and_old_ones_less() -> None:
    assert pause(age=0, took=0) == SHORTEST
    assert SHORTEST < pause(age=300, took=0) < LONGEST
    assert pause(age=1e9, took=0) == LONGEST


def test_a_look_that_takes_long_is_made_less_often() -> None:
    assert pause(age=0, took=60) == 60 * COST
