"""JVMs that live for seconds: the optimising compiler costs them more than it gains."""

from slaq.bench.applications import SMALL_JVM

JVM = {"JAVA_TOOL_OPTIONS": SMALL_JVM}
"""Additions to the environment of a driver in a process of its own."""
