"""The flood, a process of its own: `python -m bench.flood_load '{"kafka": …, "first": …, "count": …, "rate": …}'`.

It prepares that many new columns, says `ready`, waits for a line on its standard input, then sends them to the bulk
topic at the given rate, all of them however long it takes, and prints as JSON what it did.
"""

import json
import sys
import time

from bench.columns import COLUMNS, column
from bench.events import Payloads, producer, send
from bench.steady_load import keep_rate
from lily.bus.topics import ASSETS_BULK


def main() -> None:
    order = json.loads(sys.argv[1])
    first, count, rate = order["first"], order["count"], order["rate"]
    payloads = Payloads((column(number) for number in range(first, first + count)), COLUMNS)
    log = producer(order["kafka"])
    log.list_topics(timeout=15)
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.time()
    produced, _ = keep_rate(log, payloads, rate, count / rate, ASSETS_BULK)
    send(log, payloads, count - produced, ASSETS_BULK)
    unsent = log.flush(60)
    seconds = time.time() - began
    print(json.dumps({"produced": count - unsent, "seconds": seconds, "per_second": (count - unsent) / seconds}))


if __name__ == "__main__":
    main()
