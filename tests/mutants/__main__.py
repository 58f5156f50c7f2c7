"""`python -m tests.mutants [-k TEXT]… [--jobs N] [--timeout S] [--list]`: puts in faults and reports who noticed."""

import argparse
import sys

from tests.mutants.mutants import MUTANTS
from tests.mutants.runner import TIMEOUT, Result, run_all


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    chooses = "only mutants whose path or text contains this; may be repeated"
    parser.add_argument("-k", action="append", metavar="TEXT", help=chooses)
    parser.add_argument("--jobs", type=int, default=2, help="tests that run at a time (2)")
    parser.add_argument("--timeout", type=int, default=TIMEOUT, help="seconds that one test may take (120)")
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    given = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if any(text in mutant.name for text in given.k or [""])]
    if given.list:
        sys.stdout.writelines(f"{mutant.name}\n    → {' '.join(mutant.fault.split())[:100]}\n" for mutant in chosen)
        return 0
    results = []
    for result in run_all(chosen, given.jobs, given.timeout):
        results.append(result)
        sys.stdout.write(f"{result.outcome:9} {result.mutant.name} {result.detail}\n")
        sys.stdout.flush()
    return report(results)


def report(results: list[Result]) -> int:
    noticed = sum(result.outcome == "noticed" for result in results)
    unexpected = [result for result in results if (result.outcome != "noticed") != bool(result.mutant.reason)]
    sys.stdout.write(f"{noticed} of {len(results)} noticed, {noticed / max(len(results), 1):.1%}\n")
    for result in results:
        if result.outcome != "noticed":
            why = result.mutant.reason or "no reason is known: write a test that fails with it"
            sys.stdout.write(f"{result.outcome}: {result.mutant.name}\n    {why}\n")
    return 1 if unexpected else 0


sys.exit(main())
