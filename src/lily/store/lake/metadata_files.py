"""The metadata files of a table in the warehouse: the newest is found without the catalog.

The catalog is in PostgreSQL. If PostgreSQL is restored from a backup, it names a metadata file that is no longer there,
or one whose data files maintenance has deleted. If the warehouse is restored, the file that it names does not exist.
"""

import re
from collections.abc import Mapping

from pyarrow.fs import FileSelector
from pyiceberg.exceptions import ValidationError
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import StaticTable

_NAME = re.compile(r"(\d+)-[0-9a-f-]+\.metadata\.json")


def newest_metadata(location: str, properties: Mapping[str, str]) -> str:
    """The newest complete metadata file of the table whose catalog names `location`, which may be missing. It is
    `location` itself unless there is a later version, or it is missing. Raises FileNotFoundError if there is none."""
    directory, _, name = location.rpartition("/")
    io = PyArrowFileIO(dict(properties))
    scheme, netloc, path = PyArrowFileIO.parse_location(directory)
    listed = io.fs_by_scheme(scheme, netloc).get_file_info(FileSelector(path))
    found = {info.base_name: (version(info.base_name), info.mtime_ns or 0) for info in listed}
    for candidate in sorted(found, key=lambda name: found[name], reverse=True):
        if candidate == name or (version(candidate) <= version(name) and name in found):
            return location
        if version(candidate) and _is_complete(f"{directory}/{candidate}", properties):
            return f"{directory}/{candidate}"
    raise FileNotFoundError(f"There is no complete metadata file in {directory}.")


def version(name: str) -> int:
    """The version that the name of a metadata file begins with, from 1; 0 for any other file."""
    found = _NAME.fullmatch(name)
    return int(found[1]) + 1 if found else 0


def _is_complete(location: str, properties: Mapping[str, str]) -> bool:
    """Whether the files exist that list what the table has. A process may have died while it wrote them."""
    try:
        table = StaticTable.from_metadata(location, dict(properties))
        snapshot = table.current_snapshot()
        manifests = snapshot.manifests(table.io) if snapshot else []
        return all(table.io.new_input(manifest.manifest_path).exists() for manifest in manifests)
    except (OSError, ValueError, ValidationError):
        return False
