"""`lily worker --only jobs` as a process of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
from prometheus_client import CollectorRegistry

from lily.embedded.ports import choose_ports
from lily.reactions import quality
from lily.reactions.jobs import Task
from lily.reactions.jobs.housekeeping import housekeeping
from lily.reactions.jobs.refresher import refresher
from lily.settings import Retention
from tests.jobs.scene import PATIENCE_SECONDS, Scene, until

TASKS = (*housekeeping(Retention()), refresher(CollectorRegistry()), Task(quality.NEW_DAY, quality.queue_due))


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/ready").status_code == 200
    except httpx.TransportError:
        return False


def test_a_worker_of_jobs_alone_needs_no_kafka_and_ends_when_told_to(scene: Scene, tmp_path: Path) -> None:
    port = choose_ports(["metrics"], {})["metrics"]
    settings = {
        "LILY_DATABASE_URL": scene.pipeline_url,
        "LILY_KAFKA_BOOTSTRAP": "127.0.0.1:1",
        "LILY_METRICS_PORT": str(port),
    }
    command = [sys.executable, "-m", "lily", "worker", "--only", "jobs", "--data-dir", str(tmp_path)]
    with subprocess.Popen(command, env=os.environ | settings, cwd=tmp_path, stderr=subprocess.DEVNULL) as worker:
        try:
            until(lambda: is_ready(f"http://127.0.0.1:{port}"))
            names = sorted(task.name for task in TASKS)
            until(lambda: scene.one("select array_agg(task order by task) from job_schedules") == names)
            until(lambda: scene.waiting() == 0)
            metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(PATIENCE_SECONDS) == 0
        finally:
            worker.kill()
    for task in TASKS:
        assert f'lily_jobs_total{{outcome="done",task="{task.name}"}}' in metrics
    assert "lily_jobs_waiting" in metrics
