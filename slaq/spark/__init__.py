"""The py4j side of the Spark bridge."""
