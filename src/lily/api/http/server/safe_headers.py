"""The headers that protect a response in a browser and in a cache. A response that has one of them keeps its own."""

from typing import Final

SAFE_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),  # an asset's text must not be taken for a page or a script
    (b"cache-control", b"no-store"),  # what one token may read must not be served to another
)
