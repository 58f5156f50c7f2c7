"""The job queue in PostgreSQL: `enqueue` for all callers, the rest for the worker's `jobs` resident."""

from lily.store.postgres.jobs.queue import SYSTEM, Group, Job, JobQueue, Later, NewJob, enqueue

__all__ = ["SYSTEM", "Group", "Job", "JobQueue", "Later", "NewJob", "enqueue"]
