"""Tables that were renamed or dropped, and columns that are gone, where more has to be known than the event states
(docs/decisions/0045)."""
