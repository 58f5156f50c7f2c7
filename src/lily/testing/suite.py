"""What every suite does: constructs the plug-in as Lily would, and checks that it satisfies its port."""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any, ClassVar

from pydantic import ValidationError

from lily.model.errors import LilyError
from lily.plugins.conformance import flaws
from lily.plugins.groups import Group


class Suite:
    """Set `plugin` to the class that the entry point names."""

    plugin: ClassVar[type[Any]]
    group: ClassVar[Group[Any]]

    def test_the_class_satisfies_its_port(self) -> None:
        found = flaws(self.group, self.plugin)
        assert not found, f"{self.plugin.__name__} does not satisfy the port of {self.group.name}: {found}"


class ConfiguredSuite(Suite):
    """For plug-ins with a `Config`. Override `settings` with the configuration from a recipe."""

    def settings(self) -> Mapping[str, Any]:
        raise NotImplementedError("return the configuration of the plug-in under test")

    def made(self, settings: Mapping[str, Any] | None = None) -> Any:
        chosen = self.settings() if settings is None else settings
        return self.plugin(self.plugin.Config.model_validate(dict(chosen)))

    def test_a_misspelt_setting_is_refused(self) -> None:
        """Config needs `model_config = ConfigDict(extra="forbid")`, or a misspelt setting is silently ignored."""
        try:
            self.plugin.Config.model_validate({**self.settings(), "no_such_setting": 1})
        except ValidationError:
            return
        raise AssertionError("Config accepts a setting that does not exist")


def failure(call: Callable[..., Any], *arguments: Any) -> BaseException | None:
    """What a call raises."""
    try:
        call(*arguments)
    except Exception as error:  # noqa: BLE001 - which exception it is, is what the suites test
        return error
    return None


def assert_reported(error: BaseException | None, what: str) -> None:
    """An error that a person can act on: one of Lily's types, with a message."""
    assert error is not None, f"{what}, and nothing was raised"
    assert isinstance(error, LilyError), f"{what}; raise Transient or Terminal, not {error!r}"
    assert str(error).strip(), f"{what}, and the message is empty"


def damaged(bodies: Iterable[bytes], random: Random) -> list[bytes]:
    """Each body cut off, and with some bytes replaced, at random positions."""
    found = []
    for body in bodies:
        for _ in range(100):
            cut = random.randrange(len(body))
            found += [body[:cut], body[:cut] + random.randbytes(3) + body[cut + 3 :]]
    return found
