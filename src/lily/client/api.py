"""The methods that both clients have, stated once."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from lily.client import calls
from lily.client.address import Address, find_address
from lily.client.method import pages, sends
from lily.client.retry import Retry
from lily.client.subscription import Filter, Subscription
from lily.client.tls import Tls

Feed = TypeVar("Feed")


class Api(ABC, Generic[Feed]):
    """The API of one Lily: every call, and the feed of changes. `Lily` and `AsyncLily` send them, each in its way.

    `tls` has the certificates for an https address that the system does not trust, or that requires one of the client.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, *, retry: Retry | None = None, tls: Tls | None = None
    ) -> None:
        self._address = find_address(url, token, tls)
        self._retry = retry or Retry()
        self._open(self._address)

    ingest = sends(calls.assets.ingest)
    get = sends(calls.assets.get)
    find = pages(calls.assets.find)
    batch_get = sends(calls.assets.batch_get)
    update = sends(calls.assets.update)
    delete = sends(calls.assets.delete)
    restore = sends(calls.assets.restore)
    history = pages(calls.assets.history)

    tags = sends(calls.tags.tags)
    add_tag = sends(calls.tags.add_tag)
    remove_tag = sends(calls.tags.remove_tag)
    suppress_tag = sends(calls.tags.suppress_tag)
    unsuppress_tag = sends(calls.tags.unsuppress_tag)
    tag_definitions = pages(calls.tags.tag_definitions)
    define_tag = sends(calls.tags.define_tag)
    redefine_tag = sends(calls.tags.redefine_tag)
    undefine_tag = sends(calls.tags.undefine_tag)
    would_reach = pages(calls.tags.would_reach)

    pending_protections = pages(calls.protections.pending_protections)
    confirm_protection = sends(calls.protections.confirm_protection)
    confirm_protections = sends(calls.protections.confirm_protections)
    undo_protection = sends(calls.protections.undo_protection)

    attributes = sends(calls.rules.attributes)
    rules = pages(calls.rules.rules)
    define_rule = sends(calls.rules.define_rule)
    redefine_rule = sends(calls.rules.redefine_rule)
    undefine_rule = sends(calls.rules.undefine_rule)

    relate = sends(calls.lineage.relate)
    unrelate = sends(calls.lineage.unrelate)
    relate_by_sql = sends(calls.lineage.relate_by_sql)
    take_lineage = sends(calls.lineage.take_lineage)
    lineage = sends(calls.lineage.lineage)
    travel = sends(calls.lineage.travel)
    job = sends(calls.jobs.job)
    runs = pages(calls.jobs.runs)
    run = sends(calls.jobs.run)
    facets = sends(calls.jobs.facets)

    create_policy = sends(calls.policies.create_policy)
    delete_policy = sends(calls.policies.delete_policy)
    check_access = sends(calls.policies.check_access)
    explain_access = sends(calls.policies.explain_access)

    report_usage = sends(calls.quality.report_usage)
    usage = sends(calls.quality.usage)
    quality_policies = pages(calls.quality.quality_policies)
    create_quality_policy = sends(calls.quality.create_quality_policy)
    replace_quality_policy = sends(calls.quality.replace_quality_policy)
    delete_quality_policy = sends(calls.quality.delete_quality_policy)

    add_target = sends(calls.enforcement.add_target)
    targets = pages(calls.enforcement.targets)
    target = sends(calls.enforcement.target)
    remove_target = sends(calls.enforcement.remove_target)
    apply_target = sends(calls.enforcement.apply_target)
    plan_target = sends(calls.enforcement.plan_target)
    target_script = sends(calls.enforcement.target_script)
    confirm_script = sends(calls.enforcement.confirm_script)
    enforcements = pages(calls.enforcement.enforcements)

    incidents = pages(calls.incidents.incidents)
    incident = sends(calls.incidents.incident)
    acknowledge_incident = sends(calls.incidents.acknowledge_incident)
    resolve_incident = sends(calls.incidents.resolve_incident)
    put_webhook_secret = sends(calls.incidents.put_webhook_secret)
    webhook_secrets = pages(calls.incidents.webhook_secrets)
    remove_webhook_secret = sends(calls.incidents.remove_webhook_secret)
    webhook_mappings = pages(calls.webhook_mappings.webhook_mappings)
    webhook_mapping = sends(calls.webhook_mappings.webhook_mapping)
    create_webhook_mapping = sends(calls.webhook_mappings.create_webhook_mapping)
    replace_webhook_mapping = sends(calls.webhook_mappings.replace_webhook_mapping)
    remove_webhook_mapping = sends(calls.webhook_mappings.remove_webhook_mapping)
    try_webhook_mapping = sends(calls.webhook_mappings.try_webhook_mapping)

    add_channel = sends(calls.notifications.add_channel)
    channels = pages(calls.notifications.channels)
    change_channel = sends(calls.notifications.change_channel)
    remove_channel = sends(calls.notifications.remove_channel)
    send_test = sends(calls.notifications.send_test)
    subscribe = sends(calls.notifications.subscribe)
    subscriptions = pages(calls.notifications.subscriptions)
    change_subscription = sends(calls.notifications.change_subscription)
    unsubscribe = sends(calls.notifications.unsubscribe)
    explain_subscription = sends(calls.notifications.explain_subscription)
    notified = pages(calls.notifications.notified)
    notification = sends(calls.notifications.notification)
    acknowledge_notification = sends(calls.notifications.acknowledge_notification)
    mute = sends(calls.notifications.mute)
    mutes = pages(calls.notifications.mutes)
    unmute = sends(calls.notifications.unmute)
    create_mention = sends(calls.notifications.create_mention)
    mentions = pages(calls.notifications.mentions)
    change_mention = sends(calls.notifications.change_mention)
    remove_mention = sends(calls.notifications.remove_mention)
    refresh_schedules = pages(calls.refreshes.refresh_schedules)
    refresh_schedule = sends(calls.refreshes.refresh_schedule)
    set_refresh_schedule = sends(calls.refreshes.set_refresh_schedule)
    reset_refresh_schedule = sends(calls.refreshes.reset_refresh_schedule)
    request_refresh = sends(calls.refreshes.request_refresh)
    refresh_runs = pages(calls.refreshes.refresh_runs)
    refresh_run = sends(calls.refreshes.refresh_run)
    take_refresh = sends(calls.refreshes.take_refresh)
    start_refresh = sends(calls.refreshes.start_refresh)
    finish_refresh = sends(calls.refreshes.finish_refresh)

    health = sends(calls.operations.health)
    dead_letters = pages(calls.operations.dead_letters)
    replay = sends(calls.operations.replay)
    audit = pages(calls.operations.audit)
    settings = sends(calls.operations.settings)
    decide = sends(calls.operations.decide)

    @property
    def url(self) -> str:
        return self._address.url

    def notifications(
        self,
        since: str | None = None,
        *,
        entity_type: Filter = None,
        change: Filter = None,
        metadata_id: Filter = None,
        tag: Filter = None,
    ) -> Feed:
        """Iterates over changes as they happen, from now on or since a position."""
        filters = {"entity_type": entity_type, "change": change, "metadata_id": metadata_id, "tag": tag}
        return self._follow(Subscription(self._address, self._retry, since, filters))

    @abstractmethod
    def _open(self, address: Address) -> None:
        """Makes the HTTP client."""

    @abstractmethod
    def _follow(self, subscription: Subscription) -> Feed:
        """Returns a feed that is not connected yet."""
