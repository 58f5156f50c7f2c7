"""`lily kafka-client`: what a Kafka client needs to log in to the embedded Kafka."""

# ruff: noqa: PLC0415 (the command imports the stack when it runs: `--help` need not pay for psutil and the drivers)

from typing import Annotated

from lily.cli.options import DataDir, OutputFormat, flag, read_settings
from lily.cli.output import Format, print_json
from lily.model.errors import Terminal


def kafka_client(
    *,
    java: Annotated[bool, flag("--java", "In the names of the Java client, for Kafka's own tools.")] = False,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Print the configuration of a client of the embedded Kafka, as a properties file.

    It contains a password that may read and write everything in the log: keep the file to yourself. Permit each tool of
    yours what it needs, with a user of its own.
    """
    from lily.embedded.kafka.users import brokers_of
    from lily.embedded.state import load

    state = load(read_settings(data_dir).data_dir)
    if not state.kafka_passwords:
        raise Terminal(
            f"The stack in {state.data_dir} has no Kafka of its own. Start it with `lily up`, or use the "
            "settings of the cluster that LILY_KAFKA_BOOTSTRAP names."
        )
    brokers = brokers_of(state)
    login = brokers.security.for_java() if java else brokers.security.for_librdkafka()
    options = {"bootstrap.servers": brokers.bootstrap, **login}
    if output is Format.json:
        print_json(options)
    else:
        print("\n".join(f"{name}={value}" for name, value in options.items()))
