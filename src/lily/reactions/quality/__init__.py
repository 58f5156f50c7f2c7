"""Quality: notices changes that policies watch, and judges assets when a policy or the day changes."""

from lily.reactions.quality.reaction import quality_reaction
from lily.reactions.quality.tasks import EVERY, NEW_DAY, judge, queue_due

__all__ = ["EVERY", "NEW_DAY", "judge", "quality_reaction", "queue_due"]
