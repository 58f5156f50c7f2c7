"""Whatever fits the published OpenAPI document, or just misses it, is answered as the document says."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.door import Door

# No fault, a declared status, the declared type, shape and methods, and no way around the token.
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "unsupported_method",
    "ignored_auth",
)
EXAMPLES = 12


@pytest.mark.campaign
@pytest.mark.timeout(900)
def test_every_answer_keeps_to_the_document(door: Door, tmp_path: Path) -> None:
    door.ingest("0")  # the name the fuzzer tries first
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{door.stack.url}/openapi.json"]
    options = ["--header", f"Authorization: Bearer {door.token}", "--checks", ",".join(CHECKS), "--no-color"]
    effort = ["--phases", "coverage,fuzzing", "--max-examples", str(EXAMPLES), "--workers", "1"]
    # Whether the generator hits a narrow pattern often enough is its luck, not a fault of the API.
    effort += ["--suppress-health-check", "filter_too_much,too_slow"]
    told = subprocess.run(
        [*command, *options, *effort], cwd=tmp_path, capture_output=True, text=True, timeout=850, check=False
    )
    assert told.returncode == 0, told.stdout[-8000:] + told.stderr[-2000:]
