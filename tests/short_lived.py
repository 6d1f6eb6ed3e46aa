"""JVMs that live for seconds: what their optimizing compiler takes from two cores they never get back."""

JVM = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""To be added to the environment of a driver of its own."""
