"""JSON logs to standard error, one line per event, each with the correlation id of its request."""

import logging
import sys

import orjson
import structlog


def configure(part: str, level: str = "INFO") -> None:
    number = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=orjson.dumps),  # one line is logged per request
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.BytesLoggerFactory(file=sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(part=part)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
