"""The job queue's side in the worker: tasks, and the resident that runs them."""

from lily.reactions.jobs.base import Retry, Task
from lily.reactions.jobs.resident import Jobs

__all__ = ["Jobs", "Retry", "Task"]
