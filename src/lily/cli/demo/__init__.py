"""`lily demo`: runs the use cases against a stack of its own and measures their latencies.

`command` is the command, `stack` its stack, `step` what a step is. The steps, in order: `catalogue`, `large_estate`,
`propagation`, `attribute_rules`, `enforcement`, `incidents`. Their data: `shop`, `contact_lineage` and `mailing`. Other
systems: `monte_carlo` and `slack`.
"""

from lily.cli.demo.command import demo

__all__ = ["demo"]
