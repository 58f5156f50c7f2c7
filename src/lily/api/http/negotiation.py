"""Content negotiation: whether the caller is a browser that shows a page, or a program that reads JSON."""

HTML, JSON = "text/html", "application/json"


def prefers_html(accept: str) -> bool:
    """True only if `Accept` names text/html, and not after application/json. curl's `*/*` gets JSON."""
    qualities = dict(_quality(entry) for entry in accept.split(","))
    return qualities.get(HTML, 0.0) > 0 and qualities[HTML] >= qualities.get(JSON, 0.0)


def _quality(entry: str) -> tuple[str, float]:
    media_type, *parameters = (part.strip().lower() for part in entry.split(";"))
    quality = next((part.partition("=")[2] for part in parameters if part.startswith("q=")), "1")
    try:
        return media_type, float(quality)
    except ValueError:
        return media_type, 0.0
