"""Addresses of mail: one form alone, so that none can be anything else, in a header for example."""

import re
from typing import Annotated

from pydantic import AfterValidator

MAX_ADDRESS = 254
_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")


def is_address(text: str) -> bool:
    return len(text) <= MAX_ADDRESS and _ADDRESS.fullmatch(text) is not None


def _checked(text: str) -> str:
    if not is_address(text):
        raise ValueError("it is not a mail address such as data@example.org")
    return text


Address = Annotated[str, AfterValidator(_checked)]
