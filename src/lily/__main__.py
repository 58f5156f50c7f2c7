"""The `lily` command, also as `python -m lily`. If packages of a command are missing, it names the extra to install."""

import sys
from collections.abc import Sequence

from lily import __version__

DISTRIBUTION = "lily-metadata"
_OF_CORE = ("token", "tenant", "ingest", "cost", "plugins", "down")
# The smallest extra that suffices. Any other command needs the embedded stack.
EXTRAS = {"api": "server", "worker": "server", "pipeline": "pipeline"} | dict.fromkeys(_OF_CORE, "core")


def main() -> None:
    if sys.argv[1:] == ["--version"]:  # needs no package of the command line
        print(f"lily {__version__}")
        return
    try:
        from lily.cli import main as run  # noqa: PLC0415 (the bare client lacks the packages that this needs)

        run()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "lily":
            raise  # a bug in Lily, which installing packages does not fix
        sys.exit(what_to_install(error.name, sys.argv[1:]))


def what_to_install(module: str, arguments: Sequence[str]) -> str:
    command = " ".join(["lily", *arguments[:1]])
    extra = EXTRAS.get(arguments[0] if arguments else "", "embedded")
    return (
        f"`{command}` needs the Python package {module.partition('.')[0]}, which this installation lacks. "
        f"Install what the command needs with:\n\n    pip install '{DISTRIBUTION}[{extra}]'"
    )


if __name__ == "__main__":
    main()
