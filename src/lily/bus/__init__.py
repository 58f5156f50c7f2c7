"""The log: Kafka topics, what goes into them and what comes out."""
