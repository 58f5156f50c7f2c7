"""The data of the lineage steps: contacts that flow from a CRM through a warehouse to dashboards."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from lily.cli.demo.shop import Event

CAMPAIGNS, CHARTS = 20, 10  # each campaign has a view, and a dashboard of charts on top of it
EMAIL, PHONE = "crm.public.contacts.email", "crm.public.contacts.phone"
HASH, READERS = "dwh.raw.contacts.email_hash", "bi.readers"
CALL_SHEET = "bi.call_sheet"  # shows email and phone in one column, so a tag on it can have two origins
SUPPRESSED = "dwh.marts.campaign_07.recipient"
DASHBOARD = "bi.campaign_07"

RAW = "dwh.raw.contacts"
COLUMNS = {
    "crm.public.contacts": ("email", "phone"),
    RAW: ("email", "phone", "email_hash"),
    "dwh.core.people": ("email", "phone", "contact", "email_hash"),
    "dwh.marts.call_list": ("contact",),
    "dwh.marts.readers": ("reader",),
}
MODELS = """
create table dwh.core.people as
  select email, phone, email || ' ' || phone as contact, email_hash from dwh.raw.contacts;
create view dwh.marts.call_list as select contact from dwh.core.people;
create view dwh.marts.readers as select email_hash as reader from dwh.core.people;
"""
CAMPAIGN = "create view dwh.marts.NAME as select email as recipient from dwh.core.people;\n"


def campaigns() -> list[str]:
    return [f"campaign_{number:02}" for number in range(1, CAMPAIGNS + 1)]


def charts(campaign: str) -> list[str]:
    return [f"bi.{campaign}.chart_{number:02}" for number in range(1, CHARTS + 1)]


def assets() -> Iterator[Event]:
    """Yields the assets. The columns have a tag, so they take the hot lane."""
    tables = COLUMNS | {f"dwh.marts.{campaign}": ("recipient",) for campaign in campaigns()}
    for table, columns in tables.items():
        yield _asset("table", table)
        for column in columns:
            yield _asset("column", f"{table}.{column}", parent=table, tags=["Marketing"])
    for dashboard in (CALL_SHEET, READERS, *(f"bi.{campaign}" for campaign in campaigns())):
        yield _asset("dashboard", dashboard)
    for campaign in campaigns():
        for chart in charts(campaign):
            yield _asset("chart", chart, parent=f"bi.{campaign}")


def loading_run() -> dict[str, Any]:
    """Returns the OpenLineage event of a nightly load that copies two columns and hashes the email address."""
    source = {"namespace": "postgres://crm:5432", "name": "crm.public.contacts"}
    flows = {"email": ("email", False), "phone": ("phone", False), "email_hash": ("email", True)}
    fields = {
        column: {"inputFields": [{**source, "field": origin, "transformations": [_transformation(masking=masked)]}]}
        for column, (origin, masked) in flows.items()
    }
    return {
        "eventType": "COMPLETE",
        "eventTime": datetime.now(UTC).isoformat(),
        "run": {"runId": str(uuid4())},
        "job": {"namespace": "nightly", "name": "load_contacts"},
        "inputs": [source],
        "outputs": [
            {"namespace": "snowflake://dwh", "name": RAW, "facets": {"columnLineage": {"fields": fields}}},
        ],
    }


def models() -> str:
    """Returns the SQL of the warehouse."""
    return MODELS + "".join(CAMPAIGN.replace("NAME", campaign) for campaign in campaigns())


def dashboards() -> list[dict[str, str]]:
    """Returns the edges sent with POST /lineage: from columns to charts, and from charts to dashboards."""
    edges = [("dwh.marts.call_list.contact", CALL_SHEET), ("dwh.marts.readers.reader", READERS)]
    for campaign in campaigns():
        for chart in charts(campaign):
            edges += [(f"dwh.marts.{campaign}.recipient", chart), (chart, f"bi.{campaign}")]
    return [{"from": start, "to": end, "relationship_type": "used-in"} for start, end in edges]


def _asset(entity_type: str, qualified_name: str, **more: Any) -> Event:
    attributes = {"name": qualified_name.rpartition(".")[2], "qualified_name": qualified_name, **more}
    return {"entity_type": entity_type, "attributes": attributes}


def _transformation(*, masking: bool) -> dict[str, Any]:
    return {"type": "DIRECT", "subtype": "TRANSFORMATION" if masking else "IDENTITY", "masking": masking}
