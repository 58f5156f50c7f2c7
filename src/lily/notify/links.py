"""Links in messages. They lead to the start page, which shows how to read what follows the `#`."""


def asset_url(public_url: str, asset_id: str) -> str:
    return f"{public_url}/#/assets/{asset_id}"


def incident_url(public_url: str, incident_id: str) -> str:
    return f"{public_url}/#/incidents/{incident_id}"
