"""Behaviour suites for the authors of plug-ins: one per port, as plain pytest classes.

    class TestTsv(FormatSuite):
        plugin = Tsv

        def samples(self):
            return [Sample(b"name\\tentity_type\\norders\\ttable\\n", [{...}])]

A suite tests what the port's docstring promises, on the plug-in itself and on the real source, receiver or target that
the author's test provides. Every method that begins with `test_` is one promise; none needs a fixture.
"""

from lily.testing.channels import ChannelSuite
from lily.testing.connectors import ConnectorSuite
from lily.testing.enforcers import EnforcerSuite
from lily.testing.formats import FormatSuite, Sample
from lily.testing.intakes import IntakeSuite
from lily.testing.outbound_enforcers import OutboundEnforcerSuite
from lily.testing.transforms import Example, TransformSuite

__all__ = [
    "ChannelSuite",
    "ConnectorSuite",
    "EnforcerSuite",
    "Example",
    "FormatSuite",
    "IntakeSuite",
    "OutboundEnforcerSuite",
    "Sample",
    "TransformSuite",
]
