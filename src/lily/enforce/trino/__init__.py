"""Trino, through the protocol of its OPA plug-in. Pure: no input or output of its own.

request = parse_request(body)                        # who wants to do what; Refused if it is malformed
questions, answer = allow(request, names)            # for the policies
result = answer([decider.decide(question) for question in questions])
"""

from lily.enforce.trino.answers import Exchange, allow, batch, batch_column_masks, column_mask, row_filters
from lily.enforce.trino.objects import ObjectNames
from lily.enforce.trino.requests import Request, parse_request

__all__ = [
    "Exchange",
    "ObjectNames",
    "Request",
    "allow",
    "batch",
    "batch_column_masks",
    "column_mask",
    "parse_request",
    "row_filters",
]
