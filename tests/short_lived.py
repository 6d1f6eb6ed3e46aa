"""JVMs that live for seconds: what their optimizing compiler takes from two cores they never get back."""

from slaq.bench.applications import SMALL_JVM

JVM = {"JAVA_TOOL_OPTIONS": SMALL_JVM}
"""To be added to the environment of a driver of its own."""
