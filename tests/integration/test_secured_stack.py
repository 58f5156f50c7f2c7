"""A stack behind locks: Kafka of someone else with TLS and passwords, and an API with TLS. The demo passes there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lily.embedded.kafka.users import brokers_environment
from tests.certificates import Authority
from tests.secured_kafka import secured_kafka


@pytest.mark.campaign
@pytest.mark.timeout(600)
def test_the_demo_passes_with_passwords_and_tls_everywhere(tmp_path: Path) -> None:
    certificate, key = Authority().issue().saved(tmp_path, "api")
    with secured_kafka(tmp_path) as brokers:
        environment = {
            **os.environ,
            **brokers_environment(brokers),
            "LILY_TLS__CERTIFICATE": str(certificate),
            "LILY_TLS__KEY": str(key),
        }
        demo = [sys.executable, "-m", "lily", "demo"]
        done = subprocess.run(demo, capture_output=True, text=True, timeout=500, check=False, env=environment)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "https://127.0.0.1" in done.stdout
