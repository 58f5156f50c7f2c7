"""The data files of a table in the lake, and which of them can contain given ids.

Manifests are immutable, so their content is cached, and a new snapshot only costs reading its new manifests.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, ManifestContent, ManifestFile
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable
from pyiceberg.transforms import BucketTransform

from lily.model.errors import Terminal
from lily.settings import S3
from lily.store.lake.buckets import bucket_of
from lily.store.lake.tables import id_prefix

_AFTER_ALL_IDS = "g"  # ids are hexadecimal


@dataclass(frozen=True, slots=True)
class LakeFile:
    path: str
    tenant: str
    buckets: int  # the number of buckets when the file was written
    bucket: int
    first: str  # the smallest id, and the largest
    last: str
    rows: int


@dataclass(frozen=True)
class TableFiles:
    """The data files of one snapshot. Every method takes the tenant."""

    io: FileIO
    location: str
    manifests: Mapping[str, tuple[LakeFile, ...]]
    _of_bucket: dict[tuple[str, int, int], list[LakeFile]] = field(default_factory=lambda: defaultdict(list))
    _of_tenant: dict[str, list[LakeFile]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for files in self.manifests.values():
            for file in files:
                self._of_bucket[file.tenant, file.buckets, file.bucket].append(file)
                self._of_tenant[file.tenant].append(file)

    def of_tenant(self, tenant: str) -> list[LakeFile]:
        return self._of_tenant.get(tenant, [])

    def of_prefix(self, tenant: str, prefix: str) -> Iterator[LakeFile]:
        """The files that can contain ids with this prefix."""
        for buckets in {file.buckets for file in self.of_tenant(tenant)}:
            for file in self._of_bucket.get((tenant, buckets, bucket_of(buckets)(prefix)), ()):
                if file.first <= prefix + _AFTER_ALL_IDS and prefix <= file.last:
                    yield file

    def of_ids(self, tenant: str, ids: Collection[str]) -> dict[LakeFile, list[str]]:
        """The files that can contain the ids, each with the ids that it can contain."""
        found: dict[LakeFile, list[str]] = defaultdict(list)
        by_prefix: dict[str, list[str]] = defaultdict(list)
        for asset_id in ids:
            by_prefix[id_prefix(asset_id)].append(asset_id)
        for prefix, same_prefix in by_prefix.items():
            for file in self.of_prefix(tenant, prefix):
                if held := [asset_id for asset_id in same_prefix if file.first <= asset_id <= file.last]:
                    found[file] += held
        return found


def io_properties(s3: S3) -> dict[str, str]:
    """PyIceberg's properties for the warehouse. Without settings it uses AWS's environment variables and roles."""
    credentials = {"s3.access-key-id": s3.access_key, "s3.secret-access-key": s3.secret_key}
    given = {"s3.endpoint": s3.endpoint, "s3.region": s3.region} | credentials
    # Only a few threads read the lake, and requests wait for them: an unreachable object store must not block them.
    timeouts = {"s3.connect-timeout": "2", "s3.request-timeout": "10"}
    return timeouts | {name: value for name, value in given.items() if value}


def read_files(location: str, properties: Mapping[str, str], known: TableFiles | None = None) -> TableFiles:
    """The files of the current snapshot of a metadata file. Raises OSError if the warehouse cannot be read."""
    table = StaticTable.from_metadata(location, dict(properties))
    snapshot = table.current_snapshot()
    manifests: dict[str, tuple[LakeFile, ...]] = {}
    for manifest in snapshot.manifests(table.io) if snapshot else ():
        path = manifest.manifest_path
        if known and path in known.manifests:
            manifests[path] = known.manifests[path]
        elif manifest.has_added_files() or manifest.has_existing_files():
            read = _reader(table.schema(), table.specs()[manifest.partition_spec_id])
            manifests[path] = tuple(read(file) for file in _live(manifest, table.io))
    return TableFiles(table.io, location, manifests)


def _live(manifest: ManifestFile, io: FileIO) -> list[DataFile]:
    if manifest.content != ManifestContent.DATA:
        raise Terminal(
            "A table of the lake has delete files, which Lily never writes. Rewrite the table with copy-on-write."
        )
    return [entry.data_file for entry in manifest.fetch_manifest_entry(io)]


def _reader(schema: Schema, spec: PartitionSpec) -> Callable[[DataFile], LakeFile]:
    sources = [schema.find_column_name(part.source_id) for part in spec.fields]
    tenant, bucket_field = sources.index("tenant"), sources.index("place")
    bucket = spec.fields[bucket_field].transform
    if not isinstance(bucket, BucketTransform):
        raise Terminal(
            "A table of the lake is not partitioned by bucket(place), so Lily did not create it. "
            "Set LILY_WAREHOUSE to a location that only Lily writes."
        )
    id_field = schema.find_field("id").field_id

    def read(file: DataFile) -> LakeFile:
        return LakeFile(
            path=file.file_path,
            tenant=file.partition[tenant],
            buckets=bucket.num_buckets,
            bucket=file.partition[bucket_field],
            first=(file.lower_bounds or {}).get(id_field, b"").decode(),
            last=(file.upper_bounds or {}).get(id_field, _AFTER_ALL_IDS.encode()).decode(),
            rows=file.record_count,
        )

    return read
