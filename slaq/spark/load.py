"""Bring the bridge's classes and agent into a driver's JVM, however it was started."""

import logging
from typing import Any
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from slaq.errors import SlaqError
from slaq.spark.attach import attach_agent
from slaq.spark.jar import jar_path

BRIDGE_CLASS = "io.slaq.bridge.Bridge"
AGENT_CLASS = "io.slaq.probe.Agent"

log = logging.getLogger("slaq.spark")

_detached: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The bridge's class in each JVM whose own class path does not hold it, by gateway."""


def bridge_class(spark: SparkSession) -> Any:
    """The static side of the Java bridge, after loading the agent if the driver was started without it.

    Where no agent can be attached, the pools still work, from a class loader of their own: shares hold on average,
    but there are no losses and no exact caps.
    """
    jvm: Any = spark._jvm
    try:
        if not agent_loaded(jvm):
            attach_agent(spark)
    except SlaqError as error:
        log.warning("%s. Until then shares hold on average, and no losses are seen.", error)
    if on_class_path(jvm, BRIDGE_CLASS):
        return jvm.io.slaq.bridge.Bridge
    return DetachedBridge(spark)


def on_class_path(jvm: Any, name: str) -> bool:
    """Whether the driver can load a class."""
    try:
        jvm.java.lang.Class.forName(name)
    except Py4JError:
        return False
    return True


def agent_loaded(jvm: Any) -> bool:
    """Whether this JVM runs the agent, from its start or attached later; its hooks are then in place."""
    return on_class_path(jvm, AGENT_CLASS) and bool(jvm.io.slaq.probe.Agent.ready())


def detached_class(gateway: Any) -> Any:
    """The bridge's class from a loader of its own: always the same one, for each would install a bridge of its own."""
    if gateway not in _detached:
        urls = gateway.new_array(gateway.jvm.java.net.URL, 1)
        urls[0] = gateway.jvm.java.io.File(str(jar_path())).toURI().toURL()
        parent = gateway.jvm.java.lang.ClassLoader.getSystemClassLoader()
        _detached[gateway] = gateway.jvm.java.net.URLClassLoader(urls, parent).loadClass(BRIDGE_CLASS)
    return _detached[gateway]


class DetachedBridge:
    """The static side of a bridge that the JVM's own class path does not hold."""

    def __init__(self, spark: SparkSession) -> None:
        self._gateway: Any = spark.sparkContext._gateway
        self._class = detached_class(self._gateway)

    def install(self, context: Any, strict: bool) -> Any:
        """Same as `Bridge.install` in Java."""
        arguments = self._gateway.new_array(self._gateway.jvm.java.lang.Object, 2)
        arguments[0], arguments[1] = context, strict
        install = next(method for method in self._class.getMethods() if method.getName() == "install")
        return install.invoke(None, arguments)
