"""The log: Kafka topics, producing to them and consuming from them."""
