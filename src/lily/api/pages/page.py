"""A page with its style and script inline, and a Content-Security-Policy that permits those two and no others."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from starlette.responses import HTMLResponse

_BASE_POLICY = {
    "default-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
}


@dataclass(frozen=True, slots=True)
class Page:
    html: str
    policy: str

    def response(self) -> HTMLResponse:
        headers = {
            "Content-Security-Policy": self.policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-cache",
        }
        return HTMLResponse(self.html, headers=headers)


def load(name: str, values: Mapping[str, str], styles: str = "", scripts: str = "") -> Page:
    """The page of the folder `name`, with `{{value}}` replaced. `styles` and `scripts` are further permitted sources.

    The digests of the inline style and script are part of the policy, so injected markup runs nothing.
    """
    folder = files(__package__) / name
    html, style, script = ((folder / file).read_text() for file in ("page.html", "style.css", "script.js"))
    for key, value in {**values, "style": style, "script": script}.items():
        html = html.replace(f"{{{{{key}}}}}", value)
    sources = {
        "style-src": f"{_digest(style)} {styles}".strip(),
        "script-src": f"{_digest(script)} {scripts}".strip(),
    }
    policy = "; ".join(f"{directive} {value}" for directive, value in {**_BASE_POLICY, **sources}.items())
    return Page(html, policy)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
