"""A PySpark program for test_drivers.py: reports losses of its own, tries a wrong token, ends without goodbye."""

import os
import signal

from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

import slaq


def field(jvm, owner, instance, name):
    found = jvm.java.lang.Class.forName(owner).getDeclaredField(name)
    found.setAccessible(True)
    return found.get(instance)


spark = SparkSession.builder.getOrCreate()
jvm = spark._jvm
sidecar = field(jvm, "io.slaq.sidecar.Sidecar", None, "current")
print("sidecar", field(jvm, "io.slaq.sidecar.Sidecar", sidecar, "process").pid())

port = field(jvm, "io.slaq.sidecar.Sidecar", sidecar, "gateway").getListeningPort()
try:
    JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token="wrong")).entry_point.settings()
    print("token accepted")
except Py4JError:
    print("token refused")

with slaq.job("own-loop", weight=3.0):
    for step in range(5):
        spark.sparkContext.parallelize(range(4), 2).count()
        slaq.report(1.0 / (step + 1))
print("attached", slaq.attach(spark))
seen = next(job for job in slaq.jobs() if job.name == "own-loop")
print("seen", seen.losses == (1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5), seen.weight)
os.kill(jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
