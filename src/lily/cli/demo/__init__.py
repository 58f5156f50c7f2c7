"""`lily demo`: the use cases, played against a stack of its own with measured latencies."""

from lily.cli.demo.command import demo

__all__ = ["demo"]
