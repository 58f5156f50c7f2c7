"""Every built-in format behaves as the port promises."""

from collections.abc import Sequence

import orjson

from lily.formats.csv import Csv
from lily.formats.json_array import JsonArray
from lily.formats.ndjson import Ndjson
from lily.formats.xlsx import Xlsx
from lily.formats.xml import Xml
from lily.testing import FormatSuite, Sample
from tests.workbooks import workbook

ORDERS = {
    "entity_type": "table",
    "attributes": {"name": "orders", "description": 'said "so", twice\nand äöü', "tags": ["PII", "GDPR"]},
}
EMAIL = {"entity_type": "column", "attributes": {"name": "email", "parent": "shop.orders"}, "operation": "delete"}
BODIES = [ORDERS, EMAIL]


class TestNdjson(FormatSuite):
    plugin = Ndjson

    def samples(self) -> Sequence[Sample]:
        lines = [orjson.dumps(body) for body in BODIES]
        return [Sample(b"\n".join(lines), BODIES), Sample(b"\r\n\r\n".join(lines) + b"\n\n", BODIES)]

    def long_row(self, length: int) -> bytes:
        return b'"' + b"x" * length + b'"\n'


class TestJsonArray(FormatSuite):
    plugin = JsonArray

    def samples(self) -> Sequence[Sample]:
        pretty = orjson.dumps(BODIES, option=orjson.OPT_INDENT_2)
        return [Sample(orjson.dumps(BODIES), BODIES), Sample(pretty, BODIES), Sample(b"[]", [])]

    def long_row(self, length: int) -> bytes:
        return b'["' + b"x" * length + b'"]'


class TestCsv(FormatSuite):
    plugin = Csv

    def samples(self) -> Sequence[Sample]:
        text = (
            "entity_type,name,description,tags,parent,operation\n"
            'table,orders,"said ""so"", twice\nand äöü",PII|GDPR,,\n'
            "column,email,,,shop.orders,delete\n"
        )
        excel = b"\xef\xbb\xbf" + text.replace("\n", "\r\n").replace("twice\r\n", "twice\n").encode()
        return [Sample(text.encode(), BODIES), Sample(excel, BODIES), Sample(b"name,entity_type\n", [])]

    def long_row(self, length: int) -> bytes:
        return b"entity_type,name\ntable," + b"x" * length + b"\n"


class TestXml(FormatSuite):
    plugin = Xml

    def samples(self) -> Sequence[Sample]:
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<!-- an export -->\n<assets>\n  <asset>\n'
            "    <entity_type>table</entity_type><name>orders</name>\n"
            '    <description>said "so", twice\nand äöü</description>\n'
            "    <tags>\n      <tag>PII</tag><tag>GDPR</tag>\n    </tags>\n  </asset>\n"
            "  <asset><entity_type>column</entity_type><name>email</name><parent>shop.orders</parent>"
            "<operation>delete</operation></asset>\n</assets>\n"
        )
        return [Sample(text.encode(), BODIES), Sample(b"<assets/>", [])]

    def long_row(self, length: int) -> bytes:
        return b"<assets><asset><name>" + b"x" * length + b"</name></asset></assets>"


class TestXlsx(FormatSuite):
    plugin = Xlsx
    streams = False  # the directory of a ZIP archive stands at its end

    def samples(self) -> Sequence[Sample]:
        rows: list[list[str | None]] = [
            ["entity_type", "name", "description", "tags", "parent", "operation"],
            ["table", "orders", 'said "so", twice\nand äöü', "PII|GDPR"],
            ["column", "email", None, None, "shop.orders", "delete"],
        ]
        return [Sample(workbook(rows), BODIES)]
