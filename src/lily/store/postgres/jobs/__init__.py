"""The job queue in PostgreSQL: `enqueue` for everyone, the rest for the worker's `jobs` resident."""

from lily.store.postgres.jobs.queue import SYSTEM, Group, Job, JobQueue, NewJob, enqueue

__all__ = ["SYSTEM", "Group", "Job", "JobQueue", "NewJob", "enqueue"]
