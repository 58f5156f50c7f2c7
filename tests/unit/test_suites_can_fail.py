"""Every promise that a suite tests is broken here once, and the suite notices."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import orjson
import pytest
from pydantic import BaseModel, SecretStr

from lily.connect.connectors.file import File
from lily.connect.transforms.rename import Rename
from lily.formats.ndjson import Lines, Ndjson
from lily.incidents import IncidentEvent, IncidentStatement
from lily.model import ids
from lily.model.errors import Problem, Terminal, Transient
from lily.plugins import Delivery, Failure, Inventory, Plan, Row, Sender, SourceAsset, SourceEdge, SourceItem
from lily.testing import (
    ChannelSuite,
    ConnectorSuite,
    EnforcerSuite,
    FormatSuite,
    IntakeSuite,
    OutboundEnforcerSuite,
    TransformSuite,
)
from tests.sample_plugins.mailbox import Mailbox
from tests.sample_plugins.rules_file import RulesFile
from tests.sample_plugins.tickets import Tickets
from tests.sample_plugins.webhook import Webhook, receiver
from tests.unit import test_formats_builtin, test_suites_on_plugins

Broken = tuple[type[Any], str]


class Careless(BaseModel):
    """Ignores what it does not know."""

    path: Path = Path()
    seconds: float = 5
    token: SecretStr = SecretStr("")
    remove_prefix: str = ""
    add_prefix: str = ""


# Formats


class NoSuffixes:
    media_types = ("text/x",)

    def splitter(self, limit: int) -> Lines:
        return Lines(limit)


def a_format(splitter_of: Callable[[int], Any]) -> type[Any]:
    class Format(Ndjson):
        def splitter(self, limit: int) -> Any:
            return splitter_of(limit)

    return Format


class LosesLast(Lines):
    def feed(self, chunk: bytes) -> Iterator[Row]:
        yield from [*super().feed(chunk)][:-1]


class ChunksAreBodies(Lines):
    def feed(self, chunk: bytes) -> Iterator[Row]:
        yield from super().feed(chunk)
        yield from super().finish()


class Raises(Lines):
    def feed(self, chunk: bytes) -> Iterator[Row]:
        for row in super().feed(chunk):
            assert isinstance(row, bytes)
            yield orjson.loads(row) if row else row


class AllOrNothing(Lines):
    """Returns rows at the end, if the body ends as it should."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._all: list[Row] = []

    def feed(self, chunk: bytes) -> Iterator[Row]:
        self._all += super().feed(chunk)
        return iter(())

    def finish(self) -> Iterator[Row]:
        last = [*super().finish()]
        yield from [Problem("INCOMPLETE", "")] if any(not _is_json(row) for row in last) else [*self._all, *last]


class HoldsLongRows(Lines):
    def __init__(self, limit: int) -> None:
        super().__init__(1 << 30)
        self._most = limit

    def feed(self, chunk: bytes) -> Iterator[Row]:
        for row in super().feed(chunk):
            yield Problem("TOO_LARGE", "") if isinstance(row, bytes) and len(row) > self._most else row


class ClosesOnce(Lines):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed twice")
        self.closed = True


class Shared(Ndjson):
    """One splitter for all bodies."""

    _one: ClassVar[Lines] = Lines(1 << 16)

    def splitter(self, limit: int) -> Lines:  # noqa: ARG002
        return self._one


FORMATS: list[Broken] = [
    (NoSuffixes, "test_the_class_satisfies_its_port"),
    (a_format(LosesLast), "test_a_body_gives_its_rows"),
    (a_format(ChunksAreBodies), "test_the_rows_are_the_same_however_the_body_is_cut"),
    (Shared, "test_two_bodies_at_a_time_do_not_mix"),
    (a_format(Raises), "test_no_body_makes_it_raise"),
    (a_format(AllOrNothing), "test_a_body_that_breaks_off_keeps_the_rows_before"),
    (a_format(lambda _: Lines(1 << 30)), "test_a_row_that_is_too_long_is_a_problem"),
    (a_format(HoldsLongRows), "test_a_row_that_is_too_long_is_not_held"),
    (a_format(ClosesOnce), "test_closing_twice_is_harmless"),
]

# Connectors


def a_connector(change: Callable[[list[SourceItem]], Iterable[Any]]) -> type[File]:
    class Changed(File):
        def read(self) -> Iterator[SourceItem]:
            yield from change([*super().read()])

    return Changed


class FailsCheck(File):
    def check(self) -> None:
        raise Transient("not today")


class NoCheck:
    Config = Careless

    def __init__(self, config: Careless) -> None:
        pass

    def read(self) -> Iterator[SourceItem]:
        yield from ()

    def close(self) -> None:
        pass


class ReturnsAList(File):
    def read(self) -> Any:
        return [*super().read()]


class NeverTheSame(File):
    def read(self) -> Iterator[SourceItem]:
        yield SourceAsset("table", {"name": ids.event_id()})


class ConnectsAtOnce(File):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.check()


class SilentlyEmpty(File):
    def check(self) -> None:
        pass

    def read(self) -> Iterator[SourceItem]:
        if self._path.exists():
            yield from super().read()


class CarelessFile(File):
    Config = Careless  # type: ignore[assignment]


class ConnectorClosesOnce(File):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed twice")
        self.closed = True


CONNECTORS: list[Broken] = [
    (NoCheck, "test_the_class_satisfies_its_port"),
    (CarelessFile, "test_a_misspelt_setting_is_refused"),
    (FailsCheck, "test_a_source_that_is_there_passes_its_check"),
    (a_connector(lambda _: []), "test_it_finds_assets"),
    (a_connector(lambda found: [*found, {"name": "a dict"}]), "test_it_finds_assets"),
    (a_connector(lambda found: [*found, Problem("BAD", "")]), "test_it_finds_assets"),
    (a_connector(lambda found: [*found, SourceAsset("tabel", {"name": "x"})]), "test_lily_accepts_what_it_states"),
    (a_connector(lambda found: [*found, SourceEdge("x", "x")]), "test_lily_accepts_what_it_states"),
    (a_connector(lambda found: [*found, _otherwise(found)]), "test_an_asset_is_stated_one_way"),
    (NeverTheSame, "test_every_run_states_the_same"),
    (ReturnsAList, "test_it_reads_one_by_one"),
    (ConnectsAtOnce, "test_a_source_that_is_not_there_is_reported"),
    (SilentlyEmpty, "test_a_source_that_is_not_there_is_reported"),
    (ConnectorClosesOnce, "test_closing_twice_is_harmless"),
]

# Transforms


class NoEdges:
    Config = Careless

    def __init__(self, config: Careless) -> None:
        pass

    def asset(self, stated: SourceAsset) -> list[SourceAsset]:
        return [stated]


class Remembers(Rename):
    first: SourceAsset | None = None

    def asset(self, stated: SourceAsset) -> Iterator[SourceAsset]:
        self.first = self.first or stated
        yield self.first

    def edge(self, stated: SourceEdge) -> Iterator[SourceEdge]:
        yield stated if self.first is None else replace(stated, target="after an asset")


class Modifies(Rename):
    def asset(self, stated: SourceAsset) -> Iterator[SourceAsset]:
        assert isinstance(stated.attributes, dict)
        stated.attributes["seen"] = True
        yield stated


class Assumes(Rename):
    def asset(self, stated: SourceAsset) -> Iterator[SourceAsset]:
        yield replace(stated, attributes={"name": stated.attributes["name"].upper()})


class CarelessRename(Rename):
    Config = Careless  # type: ignore[assignment]


TRANSFORMS: list[Broken] = [
    (NoEdges, "test_the_class_satisfies_its_port"),
    (CarelessRename, "test_a_misspelt_setting_is_refused"),
    (Modifies, "test_a_statement_becomes_what_was_expected"),
    (Remembers, "test_order_and_repetition_do_not_matter"),
    (Modifies, "test_a_statement_is_not_modified"),
    (Assumes, "test_an_odd_statement_is_passed_on_or_refused"),
]

# Intakes


class NoEvents(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:  # noqa: ARG002
        return []


class FutureEvents(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:
        return [replace(event, time="2999-01-01T00:00:00.000000Z") for event in super().events(item, delivery, sender)]


class OneTenant(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:
        return super().events(item, delivery, replace(sender, tenant="everyone"))


class SameIds(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:
        return [replace(event, id="1") for event in super().events(item, delivery, sender) * 2]


class NewIncidents(Tickets):
    def events(self, item: Any, delivery: Delivery, sender: Sender) -> list[Any]:
        said = IncidentStatement("tickets", str(item), by=sender.by)
        return [IncidentEvent(ids.event_id(), delivery.received, sender.tenant, said)]


class RaisesOnGarbage(Tickets):
    def decode(self, delivery: Delivery) -> list[Any]:
        return [json.loads(delivery.body)]


class TrustsAll(Tickets):
    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:  # noqa: ARG002
        return True


class TriesOneSecret(Tickets):
    def verify(self, delivery: Delivery, secrets: Sequence[bytes]) -> bool:
        return super().verify(delivery, secrets[:1])


class CarelessTickets(Tickets):
    Config = Careless  # type: ignore[assignment]


class NoVerify:
    Config = Careless

    def __init__(self, config: Careless) -> None:
        pass


INTAKES: list[Broken] = [
    (NoVerify, "test_the_class_satisfies_its_port"),
    (CarelessTickets, "test_a_misspelt_setting_is_refused"),
    (NoEvents, "test_a_delivery_becomes_events"),
    (FutureEvents, "test_the_pipeline_accepts_its_events"),
    (OneTenant, "test_every_event_belongs_to_its_sender"),
    (OneTenant, "test_two_tenants_share_no_asset"),
    (SameIds, "test_event_ids_are_unique"),
    (NewIncidents, "test_a_repeated_delivery_states_the_same_incidents"),
    (RaisesOnGarbage, "test_what_cannot_be_read_is_refused"),
    (TrustsAll, "test_only_a_good_signature_is_verified"),
    (TriesOneSecret, "test_only_a_good_signature_is_verified"),
]

# Channels


class SyncDeliver:
    Config = Careless

    def __init__(self, config: Careless) -> None:
        pass

    async def check(self, destination: str) -> None:
        pass

    def deliver(self, notification: Any, destination: str) -> str:
        raise NotImplementedError

    async def close(self) -> None:
        pass


class NoKey(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        return await super().deliver(replace(notification, id="-"), destination)


class DropsEverySecond(Webhook):
    count = 0

    async def deliver(self, notification: Any, destination: str) -> str:
        self.count += 1
        return await super().deliver(notification, destination) if self.count % 2 else ""


class CheckDelivers(Webhook):
    async def check(self, destination: str) -> None:
        await self._call("POST", destination, "check", {})


class NotLilysError(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        if len(notification.text) > 1_000 or not destination.endswith("/ok"):
            raise ValueError("too long, or no good")
        return await super().deliver(notification, destination)


class SwallowsErrors(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        await self._call("POST", destination, notification.id, {})
        return ""


class AlwaysTransient(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:  # noqa: ARG002
        raise Transient("later")


class PassesAnyLink(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        return await super().deliver(replace(notification, text=notification.url), destination)


class NeedsItsOwnPrevious(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        int(notification.data.get("previous", "0"))
        return await super().deliver(notification, destination)


class LosesContinuations(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        return "" if notification.data.get("previous") else await super().deliver(notification, destination)


class ShowsItsToken(Webhook):
    async def deliver(self, notification: Any, destination: str) -> str:
        try:
            return await super().deliver(notification, destination)
        except Terminal as error:
            raise Terminal(f"{error}, with {self._token}") from error


class CarelessWebhook(Webhook):
    Config = Careless  # type: ignore[assignment]


class ChannelClosesOnce(Webhook):
    closed = False

    async def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed twice")
        self.closed = True


CHANNELS: list[Broken] = [
    (SyncDeliver, "test_the_class_satisfies_its_port"),
    (CarelessWebhook, "test_a_misspelt_setting_is_refused"),
    (NoKey, "test_a_notification_arrives_with_its_id"),
    (DropsEverySecond, "test_many_at_a_time_all_arrive"),
    (CheckDelivers, "test_a_check_delivers_nothing"),
    (NotLilysError, "test_hostile_text_is_delivered_or_refused"),
    (PassesAnyLink, "test_a_link_that_is_not_of_the_web_is_not_passed_on"),
    (NeedsItsOwnPrevious, "test_an_unknown_previous_message_is_no_obstacle"),
    (LosesContinuations, "test_an_unknown_previous_message_is_no_obstacle"),
    (ShowsItsToken, "test_errors_have_no_secret"),
    (SwallowsErrors, "test_a_receiver_that_does_not_answer_is_worth_another_attempt"),
    (NotLilysError, "test_a_receiver_that_does_not_answer_is_worth_another_attempt"),
    (AlwaysTransient, "test_a_receiver_that_refuses_is_not_asked_again"),
    (ChannelClosesOnce, "test_closing_twice_is_harmless"),
]

# Enforcers


class PlansByDoing(RulesFile):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        plan = super().plan(decisions)
        self.apply(plan)
        return plan


class DoesNothing(RulesFile):
    def apply(self, plan: Plan) -> list[Failure]:  # noqa: ARG002
        return []


class KnowsNothing(RulesFile):
    def inventory(self) -> Inventory:
        return Inventory((), ())


class ReportsNothing(RulesFile):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        return Plan(super().plan(decisions).steps)


class Counts(RulesFile):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        failures = super().apply(plan)
        document = self._document()
        document["applied"] = {"times": str(int(document.get("applied", {}).get("times", 0)) + 1)}
        self._path.write_text(json.dumps(document))
        return failures


class FirstWins(RulesFile):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        return super().plan(decisions[:1])


class NeverTakesBack(RulesFile):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        return Plan(tuple(step for step in super().plan(decisions).steps if not step.change.endswith("null]")))


class SeesNoDrift(RulesFile):
    def verify(self, decisions: Sequence[Any]) -> list[Any]:  # noqa: ARG002
        return []


class LeavesTraces(RulesFile):
    def remove(self) -> None:
        was_applied = "lily" in self._document()
        super().remove()
        if was_applied:
            self._path.write_text(json.dumps(self._document() | {"removed": {}}))


class HidesErrors(RulesFile):
    def _document(self) -> dict[str, dict[str, Any]]:
        return super()._document() if self._path.exists() else {"own": {"tables": {}, "roles": []}}


class CarelessRules(RulesFile):
    Config = Careless  # type: ignore[assignment]


class EnforcerClosesOnce(RulesFile):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed twice")
        self.closed = True


class NoPlan:
    Config = Careless

    def __init__(self, config: Careless) -> None:
        pass


ENFORCERS: list[Broken] = [
    (NoPlan, "test_the_class_satisfies_its_port"),
    (CarelessRules, "test_a_misspelt_setting_is_refused"),
    (PlansByDoing, "test_a_plan_changes_nothing"),
    (KnowsNothing, "test_the_inventory_has_what_can_be_decided"),
    (ReportsNothing, "test_a_role_that_the_target_lacks_is_reported"),
    (ReportsNothing, "test_a_table_that_the_target_lacks_is_reported"),
    (DoesNothing, "test_what_is_applied_is_in_line"),
    (Counts, "test_applying_twice_is_applying_once"),
    (FirstWins, "test_the_order_of_decisions_does_not_matter"),
    (NeverTakesBack, "test_a_decision_that_is_gone_is_taken_back"),
    (SeesNoDrift, "test_drift_is_found_and_repaired"),
    (LeavesTraces, "test_removing_leaves_the_target_as_it_was"),
    (HidesErrors, "test_a_target_that_is_not_there_is_reported"),
    (EnforcerClosesOnce, "test_closing_twice_is_harmless"),
]


# Enforcers whose target cannot be read


class CarelessMailbox(Mailbox):
    Config = Careless  # type: ignore[assignment]


class ReadsItself(Mailbox):
    def inventory(self) -> Any:
        return Inventory((), ())


class SendsByPlanning(Mailbox):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        plan = super().plan(decisions)
        self.apply(plan)
        return plan


class SendsNothing(Mailbox):
    def apply(self, plan: Plan) -> list[Failure]:  # noqa: ARG002
        return []


class Appends(Mailbox):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        for step in plan.steps:
            with (self._path / ".".join(step.table)).open("a") as file:
                file.write(step.change)
        return []


class ForgetsOthers(Mailbox):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        self.remove()
        return super().apply(plan)


class KeepsOrder(Mailbox):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        return Plan(tuple(step for one in decisions for step in super(KeepsOrder, self).plan([one]).steps))


class FirstStays(Mailbox):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        new = [step for step in plan.steps if not (self._path / ".".join(step.table)).exists()]
        return super().apply(Plan(tuple(new)))


class NeverWithdraws(Mailbox):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        return super().apply(Plan(tuple(step for step in plan.steps if step.change)))


class NeverRemoves(Mailbox):
    def remove(self) -> None:
        self._check()


class ConfirmsAnything(Mailbox):
    def _check(self) -> None:
        self._path.mkdir(exist_ok=True)


class MailboxClosesOnce(Mailbox):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed twice")
        self.closed = True


OUTBOUND: list[Broken] = [
    (NoPlan, "test_the_class_satisfies_its_port"),
    (CarelessMailbox, "test_a_misspelt_setting_is_refused"),
    (ReadsItself, "test_it_has_no_inventory"),
    (SendsByPlanning, "test_a_plan_changes_nothing"),
    (SendsNothing, "test_what_is_applied_arrives"),
    (Appends, "test_applying_twice_is_applying_once"),
    (ForgetsOthers, "test_tables_that_are_not_given_stay_as_they_are"),
    (KeepsOrder, "test_the_order_of_decisions_does_not_matter"),
    (FirstStays, "test_a_newer_version_replaces_the_decisions_of_a_table"),
    (NeverWithdraws, "test_a_table_that_is_no_longer_enforced_is_withdrawn"),
    (NeverRemoves, "test_removing_leaves_the_target_as_it_was"),
    (ConfirmsAnything, "test_a_target_that_is_not_there_is_reported"),
    (MailboxClosesOnce, "test_closing_twice_is_harmless"),
]


def run(good: type[Any], broken: Broken, **prepared: Any) -> None:
    """Runs one test of a suite that passes on the good plug-in, on the broken one."""
    plugin, test = broken
    suite = type("Suite", (good,), {"plugin": plugin, **prepared})()
    try:
        getattr(suite, test)()
    except (AssertionError, RuntimeError, ValueError, Transient):
        return
    pytest.fail(f"{test} passes on {plugin.__name__}")


@pytest.mark.parametrize("broken", FORMATS, ids=str)
def test_the_suite_of_formats_notices(broken: Broken) -> None:
    run(test_formats_builtin.TestNdjson, broken)


@pytest.mark.parametrize("broken", CONNECTORS, ids=str)
def test_the_suite_of_connectors_notices(broken: Broken, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("entity_type,name\ntable,orders\n")
    run(test_suites_on_plugins.TestFile, broken, directory=tmp_path)


@pytest.mark.parametrize("broken", TRANSFORMS, ids=str)
def test_the_suite_of_transforms_notices(broken: Broken) -> None:
    run(test_suites_on_plugins.TestRename, broken)


@pytest.mark.parametrize("broken", INTAKES, ids=str)
def test_the_suite_of_intakes_notices(broken: Broken) -> None:
    run(test_suites_on_plugins.TestTickets, broken)


@pytest.mark.parametrize("broken", CHANNELS, ids=str)
def test_the_suite_of_channels_notices(broken: Broken) -> None:
    with receiver() as one:
        run(test_suites_on_plugins.TestWebhook, broken, receiver=one)


@pytest.mark.parametrize("broken", ENFORCERS, ids=str)
def test_the_suite_of_enforcers_notices(broken: Broken, tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_text(test_suites_on_plugins.OWN_RULES)
    run(test_suites_on_plugins.TestRulesFile, broken, path=path)


@pytest.mark.parametrize("broken", OUTBOUND, ids=str)
def test_the_suite_of_outbound_enforcers_notices(broken: Broken, tmp_path: Path) -> None:
    run(test_suites_on_plugins.TestMailbox, broken, path=tmp_path)


SUITES: Mapping[type[Any], list[Broken]] = {
    FormatSuite: FORMATS,
    ConnectorSuite: CONNECTORS,
    TransformSuite: TRANSFORMS,
    IntakeSuite: INTAKES,
    ChannelSuite: CHANNELS,
    EnforcerSuite: ENFORCERS,
    OutboundEnforcerSuite: OUTBOUND,
}


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.__name__)
def test_every_promise_of_a_suite_is_broken_here(suite: type[Any]) -> None:
    promises = {name for name in dir(suite) if name.startswith("test_")}
    assert promises == {test for _, test in SUITES[suite]}


def _is_json(row: Row) -> bool:
    try:
        return isinstance(row, bytes) and orjson.loads(row) is not None
    except orjson.JSONDecodeError:
        return False


def _otherwise(found: list[SourceItem]) -> SourceAsset:
    known = next(one for one in found if isinstance(one, SourceAsset))
    return replace(known, attributes={**known.attributes, "owner": "someone else"})
