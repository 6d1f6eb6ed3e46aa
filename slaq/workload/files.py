"""Real data for the nine algorithms: tables in a folder as parquet, libsvm or csv (also .bz2, .gz), read by Spark.

What a file is good for is found out by looking at its labels: two of them make a binary problem, a few a multi-class
one, whole-number features under many labels are a corpus, everything else is a regression.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from slaq.errors import SlaqError
from slaq.workload.algorithms import PARTITIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NEEDS = {
    "KMeans": ("classes", "binary", "regression"),
    "LogReg": ("classes", "binary"),
    "SVM": ("binary",),
    "SVMPoly": ("binary",),
    "GBT": ("binary",),
    "GBTReg": ("regression",),
    "MLPC": ("classes", "binary"),
    "LDA": ("corpus",),
    "LinReg": ("regression",),
}
"""The kinds of data that each algorithm takes, best first."""

LABELS = ("label", "cover_type", "median_house_value", "RMSD", "target", "y")
"""Names of label columns in tables; without one of them the last numeric column is the label."""

MOST_CLASSES = 30
FORMATS = {"parquet": "parquet", "libsvm": "libsvm", "csv": "csv"}


def real_data(spark: "SparkSession", folder: Path, most_rows: int) -> "Callable[[str], DataFrame | None]":
    """load(algorithm): the data of the first file that suits it, at most `most_rows` rows, or None if none does."""
    found: dict[str, list[DataFrame]] = {}
    for path in sorted(folder.iterdir()):
        name = table_format(path)
        if name is not None:
            frame = read(spark, path, name).limit(most_rows).repartition(PARTITIONS).cache()
            found.setdefault(kind(frame, sparse=name == "libsvm"), []).append(frame)
    if not found:
        raise SlaqError(f"{folder} holds no .parquet, .libsvm or .csv file; give a folder with training data")

    def load(algorithm: str) -> "DataFrame | None":
        frames = [frame for need in NEEDS[algorithm] for frame in found.get(need, ())]
        return from_zero(frames[0]) if frames else None

    return load


def table_format(path: Path) -> str | None:
    """The format by the file's name, without its compression; None for anything else."""
    suffixes = [suffix.lstrip(".") for suffix in path.suffixes if suffix not in (".bz2", ".gz")]
    return FORMATS.get(suffixes[-1]) if suffixes else None


def read(spark: "SparkSession", path: Path, name: str) -> "DataFrame":
    """A file as `id`, `features`, `label`."""
    from pyspark.sql import functions as f

    if name == "libsvm":
        frame = spark.read.format("libsvm").load(str(path))
    elif name == "csv":
        raw = spark.read.csv(str(path), inferSchema=True)
        frame = assembled(raw, raw.columns[0])
    else:
        frame = parquet(spark.read.parquet(str(path)))
    return frame.select(f.monotonically_increasing_id().alias("id"), "features", f.col("label").cast("double"))


def parquet(raw: "DataFrame") -> "DataFrame":
    """A table of numbers, or one whose features are bytes in one column (images)."""
    from pyspark.ml.linalg import Vectors, VectorUDT
    from pyspark.sql import functions as f
    from pyspark.sql.types import BinaryType

    label = next((name for name in LABELS if name in raw.columns), raw.columns[-1])
    for field in raw.schema.fields:
        if isinstance(field.dataType, BinaryType):
            unpack = f.udf(lambda packed: Vectors.dense([byte / 255.0 for byte in packed]), VectorUDT())
            return raw.select(unpack(field.name).alias("features"), f.col(label).alias("label"))
    return assembled(raw, label)


def assembled(raw: "DataFrame", label: str) -> "DataFrame":
    """Numeric columns as one vector of standardised features; rows with missing values are left out."""
    from pyspark.ml.feature import StandardScaler, VectorAssembler
    from pyspark.sql import functions as f
    from pyspark.sql.types import NumericType

    columns = [field.name for field in raw.schema.fields if isinstance(field.dataType, NumericType)]
    inputs = [column for column in columns if column != label]
    joined = VectorAssembler(inputCols=inputs, outputCol="raw", handleInvalid="skip").transform(raw)
    scaled = StandardScaler(inputCol="raw", outputCol="features", withMean=True).fit(joined).transform(joined)
    return scaled.select("features", f.col(label).alias("label"))


def kind(frame: "DataFrame", sparse: bool) -> str:
    """What the labels say about the problem."""
    labels = [row[0] for row in frame.select("label").distinct().limit(MOST_CLASSES + 1).collect()]
    if len(labels) <= 2:
        return "binary"
    if len(labels) <= MOST_CLASSES and all(label == int(label) for label in labels):
        return "classes"
    return "corpus" if sparse else "regression"


def from_zero(frame: "DataFrame") -> "DataFrame":
    """Class labels as 0, 1, 2 …, as MLlib needs them; other labels as they are."""
    from pyspark.sql import functions as f

    labels = sorted(row[0] for row in frame.select("label").distinct().limit(MOST_CLASSES + 1).collect())
    if len(labels) > MOST_CLASSES:
        return frame
    position = f.array_position(f.array(*map(f.lit, labels)), f.col("label")) - 1
    return frame.withColumn("label", position.cast("double"))
