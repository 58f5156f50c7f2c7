"""The bulk lane's load: plain columns, 20 to a table, table by table as a harvest sends them; about 500 bytes each."""

from collections.abc import Sequence

from bench.events import SOURCE, TENANT, Asset, Payloads, Template, asset, producer, send
from bench.stack import BenchStack
from lily.bus.topics import ASSETS_BULK
from lily.model.ids import asset_id

NAMES = (
    *("order_id", "customer_id", "shop_id", "product_id", "invoice_id", "placed_at", "paid_at", "shipped_at"),
    *("returned_at", "currency", "net_amount", "tax_amount", "discount", "quantity", "weight", "street", "city"),
    *("postcode", "country", "remark"),
)
PER_TABLE = len(NAMES)
TYPE, DATA_TYPE = "column", "decimal(12,2)"
ABOUT = "As the till wrote it, before returns. Revision {}."
AT_ONCE = 100_000  # columns held in memory while they are sent


def column(number: int) -> Asset:
    """The columns 0 to 19 are those of the first table, the next 20 those of the second, and so on."""
    table, name = asset(number // PER_TABLE).qualified_name, NAMES[number % PER_TABLE]
    return Asset(asset_id(TENANT, f"{table}.{name}"), f"{table}.{name}", name, table)


def statement(of: Asset, serial: int | str) -> dict[str, object]:
    attributes = {
        "name": of.name,
        "qualified_name": of.qualified_name,
        "description": ABOUT.format(serial),
        "data_type": DATA_TYPE,
        "data_source": SOURCE,
        "parent": of.parent,
    }
    return {"entity_type": TYPE, "attributes": attributes}


COLUMNS = Template(statement)


def new_columns(stack: BenchStack, count: int) -> list[Asset]:
    """The next columns that the stack has never heard of. Whoever asks for them sends them."""
    first, stack.columns = stack.columns, stack.columns + count
    return [column(number) for number in range(first, stack.columns)]


def send_columns(stack: BenchStack, columns: Sequence[Asset]) -> dict[int, int]:
    """Writes an event about each to the bulk topic, and answers where it ends now."""
    log = producer(stack.kafka)
    send(log, Payloads(columns, COLUMNS), len(columns), ASSETS_BULK)
    log.flush(60)
    return stack.ends(ASSETS_BULK)


def fill(stack: BenchStack, count: int) -> None:
    """Makes sure that the lake holds at least so many columns and has come to rest."""
    while stack.columns < count:
        ends = send_columns(stack, new_columns(stack, min(AT_ONCE, count - stack.columns)))
        stack.wait_applied(ends, ASSETS_BULK)
    stack.settle_lake()
