"""Settings: `LILY_` environment variables, `__` for nesting, or a `lily.toml` in the working directory."""

import logging
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, IPvAnyNetwork, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from lily.brokers import OPEN, Brokers, KafkaSecurity
from lily.environment import Environment
from lily.issuers import Oidc


def _level(name: str) -> str:
    if name.upper() not in logging.getLevelNamesMapping():
        raise ValueError("use one of: DEBUG, INFO, WARNING, ERROR, CRITICAL")
    return name


class Section(BaseModel):
    """A group of settings: `[section]` in lily.toml, `LILY_SECTION__` in the environment."""

    model_config = ConfigDict(extra="forbid")


class Limits(Section):
    """Limits of the API. Each protects the memory of a process, the size of a row, or the time that matching takes."""

    body_bytes: int = Field(1 << 20, description="the largest single event, and the largest row of a bulk body")
    bulk_bytes: int = Field(4 << 30, description="the largest bulk body; it is streamed, never held in memory")
    bulk_errors: int = Field(1_000, description="the most refused rows that a bulk response lists")
    bulk_rejections: int = Field(
        100_000, ge=1, description="refused rows after which the rest of a bulk body is not read"
    )
    bulk_bodies: int = Field(8, ge=1, description="bulk bodies of one tenant that a process reads at a time")
    request_edges: int = Field(
        50_000, gt=0, description="edges of an array of OpenLineage events; the events after that are refused"
    )
    future_skew_seconds: int = Field(300, description="how far in the future an event's time may be")
    page: int = Field(1_000, description="the most items in one page of a list")
    wait_seconds: int = Field(60, description="the longest `Prefer: wait`")
    connections: int = Field(200, gt=0, description="WebSocket connections of one tenant to one process")
    replays: int = Field(8, gt=0, description="of these, those that catch up from an old position at a time")
    failures_per_second: int = Field(
        100, ge=0, description="calls of one address without a valid token or signature; 0 for no limit"
    )
    open_connections: int = Field(4_000, gt=0, description="connections of all clients to one process")
    header_count: int = Field(100, gt=0, description="headers of a request")
    header_bytes: int = Field(64 << 10, gt=0, description="the largest address and headers of a request")
    header_seconds: float = Field(15.0, gt=0, description="how long a client may take to send the headers of a request")
    body_idle_seconds: float = Field(30.0, gt=0, description="how long a client may pause in the middle of a body")
    subscriptions: int = Field(10_000, gt=0, description="of one tenant; each is compared with every event")
    channels: int = Field(200, gt=0, description="of one tenant; a worker keeps connections of each")
    quality_policies: int = Field(1_000, gt=0, description="of one tenant; all judge what usage and changes concern")


class Quotas(Section):
    """What one tenant may send to one process of the API; 0 for no limit. `lily tenant quota` sets others for one."""

    requests_per_second: int = Field(5_000, ge=0, description="over REST, gRPC and the WebSocket")
    decisions_per_second: int = Field(5_000, ge=0, description="requests of engines: with the scope enforce:read alone")
    events_per_second: int = Field(50_000, ge=0, description="statements about assets, edges and usage")
    bytes_per_second: int = Field(64 << 20, ge=0, description="of these events, as they are in the log")
    burst_seconds: float = Field(10.0, gt=0, description="a tenant that sent less may send this much at once")


class Api(Section):
    """The API's processes."""

    workers: int = Field(
        1, ge=1, le=64, description="processes that share the port; each has its own connections and caches"
    )


class Tls(Section):
    """What the API serves REST, WebSocket and gRPC with. Without a certificate it serves without TLS."""

    certificate: Path | None = Field(None, description="PEM: the server's certificate, then those of its issuers")
    key: Path | None = Field(None, description="PEM, without a password: the key of the certificate")
    client_ca: Path | None = Field(None, description="PEM: clients have to present a certificate from one of these")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if bool(self.certificate) != bool(self.key):
            raise ValueError("certificate and key belong together: set both of them, or neither")
        if self.client_ca and not self.certificate:
            raise ValueError("client_ca has no effect without a certificate of the server: set certificate and key")
        return self


class Pipeline(Section):
    """The hot query."""

    trigger_ms: int = Field(100, ge=0, description="pause between micro-batches: lower is fresher, and costs idle CPU")
    busy_trigger_ms: int = Field(
        400, ge=0, description="the same from 5,000 events/s on, less at lower rates: higher costs less per event"
    )
    lineage_trigger_ms: int = Field(250, ge=0, description="the same for edges, which have a query of their own")
    batch_events: int = Field(40_000, description="most events in one micro-batch; bounds memory and catch-up latency")
    driver_memory: str = "640m"


class Reactions(Section):
    """Reactions to the change log, in `lily worker`."""

    batch_events: int = Field(50_000, description="most events in one batch of a reaction")
    tenant_events: int = Field(20_000, description="most events of one tenant in a batch; the rest is parked")


class Quality(Section):
    """The quality query: usage events into daily counts, and the judgement of what they change."""

    trigger_ms: int = Field(
        1_000, ge=0, description="pause between micro-batches: lower is fresher, and costs idle CPU"
    )
    batch_events: int = Field(40_000, description="most events in one micro-batch; bounds memory")


class Jobs(Section):
    """The job queue, in `lily worker`."""

    concurrency: int = Field(4, ge=1, description="concurrent jobs of a worker; at most half of them of one tenant")


class Enforcement(Section):
    """Targets that Lily brings in line with its decisions, in `lily worker`."""

    refresh_seconds: float = Field(
        60.0, gt=0, description="how often each target is compared with the decisions, to find what was changed by hand"
    )
    allowed_networks: tuple[IPvAnyNetwork, ...] = Field(
        (), description="the earlier name of outbound.allowed_networks; both count"
    )
    topics_bootstrap: str = Field("", description="the earlier name of outbound.topics_bootstrap, which wins")


class Outbound(Section):
    """What Lily may reach for a tenant: webhooks, mail servers, Jira, topics. For the API and the worker."""

    allowed_networks: tuple[IPvAnyNetwork, ...] = Field(
        (), description='not public, but addresses of tenants may be in them, as JSON: ["10.1.0.0/16"]'
    )
    topics_bootstrap: str = Field("", description="the Kafka that has the topics of tenants; default: Lily's own")
    topics_kafka: KafkaSecurity = Field(OPEN, description="what that Kafka requires of clients")


class Retention(Section):
    """How long records are kept that nothing but an inspection needs."""

    audit_days: int = Field(0, ge=0, description="how long the audit is kept; 0 keeps it for ever")
    decision_days: int = Field(30, ge=1, description="how long the log of decisions is kept")
    change_days: int = Field(
        90, ge=1, description="how long the history of assets and edges is in PostgreSQL; the lake has that of assets"
    )
    dead_letter_days: int = Field(90, ge=1, description="how long dead letters are kept")
    incident_days: int = Field(400, ge=1, description="how long resolved incidents and their messages are kept")
    lake_batch_days: int = Field(
        400, ge=1, description="how long every commit of the lake is recorded; after that one per hour"
    )
    notification_days: int = Field(90, ge=1, description="how long notifications and their receipts are kept")
    propagation_days: int = Field(30, ge=1, description="how long receipts of propagation are kept")
    policy_history_days: int = Field(
        400,
        ge=1,
        description="how long ended states of policies, roles, users and tags are kept: how far back as_of goes",
    )


class Lake(Section):
    """The lake query: both lanes into Iceberg."""

    trigger_seconds: float = Field(
        10.0, gt=0, description="longest pause between batches: lower is fresher, and makes more files"
    )
    batch_events: int = Field(
        120_000, description="most events in one batch; between batches the hot lane can go first"
    )
    buckets: int = Field(4, ge=1, description="partitions of a tenant in new tables; 64 for a billion assets")
    tasks: int = Field(2, description="most tasks of a batch at a time; 0 for as many as the log has partitions")
    writers: int = Field(2, description="tasks that write files at a time; on a cluster about as many as it has cores")
    merge_runs: int = Field(6, description="number of runs of similar size that are compacted into one")
    maintain_minutes: float = Field(60.0, description="how often small files are compacted and old snapshots expired")
    keep_hours: float = Field(24.0, description="how long snapshots and the files only they need are kept")
    yield_events: int = Field(3_000, description="while the hot lane is further behind, a batch of the lake waits")
    patience_seconds: float = Field(60.0, description="how far behind the lake may fall by waiting for the hot lane")
    search_seconds: float = Field(2.0, description="how long one page of a search may scan the lake")


class OpenLineage(Section):
    """How datasets of OpenLineage are named."""

    namespaces: dict[str, str] = Field(
        {}, description="prefixes by namespace, as JSON: '' for none, 'keep' for the namespace itself"
    )


class S3(Section):
    """An object store for `LILY_WAREHOUSE=s3://…`. Left empty, AWS's own variables and roles count."""

    endpoint: str = Field("", description="of a server that is not AWS")
    region: str = ""
    access_key: str = ""
    secret_key: str = ""


class Settings(BaseSettings):
    """All of Lily's settings. Every part reads the same; each uses what concerns it."""

    model_config = SettingsConfigDict(
        env_prefix="LILY_",
        env_nested_delimiter="__",
        toml_file="lily.toml",
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,  # a misspelt setting may hold a secret
    )

    data_dir: Path = Path(".lily")
    host: str = "127.0.0.1"
    port: int = Field(8585, ge=1, le=65_535)
    grpc_port: int = Field(
        0, ge=0, le=65_535, description="where the API serves gRPC, on the same host; 0 turns it off"
    )
    kafka_bootstrap: str = ""
    database_url: str = Field(
        "", description="the libpq URI this process connects with; each part has a role of its own"
    )
    spark_master: str = "local[4]"
    spark_secret_file: Path | None = Field(
        None, description="the secret that the parts of a Spark cluster authenticate with, for spark.authenticate"
    )
    spark_options: dict[str, str] = Field({}, description="more of Spark's properties, as JSON; they win over Lily's")
    warehouse: str = Field("", description="of the lake: a directory or s3://…; default: in the data directory")
    jars_dir: Path | None = Field(None, description="where `lily jars` keeps the jars; default: the user's cache")
    kafka_partitions: int = Field(
        2, ge=1, description="partitions of each topic; each is one transaction of a micro-batch"
    )
    kafka_replication: int = Field(1, ge=1)
    public_url: str = Field("", description="where people reach Lily: what links in messages begin with")
    metrics_port: int = Field(
        0, ge=0, le=65_535, description="health and metrics of the pipeline and the worker; 0 turns them off"
    )
    metrics_peers: tuple[str, ...] = Field((), description="addresses whose metrics the API's /metrics adds to its own")
    master_key_file: Path | None = Field(
        None, description="32 bytes, base64: wraps the keys of stored secrets, and signs the authority of statements"
    )
    otlp_endpoint: str = Field("", description="OpenTelemetry collector (OTLP over HTTP); empty turns traces off")
    log_level: Annotated[str, AfterValidator(_level)] = "INFO"
    kafka: KafkaSecurity = OPEN
    limits: Limits = Limits()
    quotas: Quotas = Quotas()
    api: Api = Api()
    tls: Tls = Tls()
    pipeline: Pipeline = Pipeline()
    reactions: Reactions = Reactions()
    quality: Quality = Quality()
    jobs: Jobs = Jobs()
    enforcement: Enforcement = Enforcement()
    outbound: Outbound = Outbound()
    retention: Retention = Retention()
    lake: Lake = Lake()
    openlineage: OpenLineage = OpenLineage()
    oidc: Oidc = Oidc()
    s3: S3 = S3()

    @property
    def link_url(self) -> str:
        """What links begin with: the public address, else that of the API."""
        return (self.public_url or f"{self.scheme}://{self.host}:{self.port}").rstrip("/")

    @property
    def scheme(self) -> str:
        """Of the API's own address."""
        return "https" if self.tls.certificate else "http"

    @property
    def allowed_networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """Under both of their names."""
        return (*self.outbound.allowed_networks, *self.enforcement.allowed_networks)

    @property
    def brokers(self) -> Brokers:
        return Brokers(self.kafka_bootstrap, self.kafka)

    @property
    def topics_brokers(self) -> Brokers:
        """Where topics of tenants are. Lily's own password is for its own Kafka alone."""
        other = self.outbound.topics_bootstrap or self.enforcement.topics_bootstrap
        return Brokers(other, self.outbound.topics_kafka) if other else self.brokers

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is the library's
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, Environment(settings_cls), TomlConfigSettingsSource(settings_cls)
