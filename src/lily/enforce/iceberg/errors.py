"""Why a table's restrictions cannot be stated."""

from lily.model.errors import Problem, Terminal


class NotExpressible(Terminal):
    """A decision that the read restrictions cannot state. The table must not be read without it."""

    def __init__(self, code: str, description: str, entity: str) -> None:
        super().__init__(f"{code}: {description}")
        self.problem = Problem(code, description, entity)
