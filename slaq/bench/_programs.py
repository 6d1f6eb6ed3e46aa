"""The example programs of the pyspark wheel that train iteratively, and what each needs to run."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """One program: its place below `examples/src/main/python`, its arguments, and the fits it makes."""

    name: str
    fits: int = 1
    """Training runs in it; of a streaming program, the least."""
    arguments: tuple[str, ...] = ()
    feeds: bool = False
    """It waits for files in a folder and never ends by itself: files are brought, and then it is interrupted."""

    slots: int = 2
    """Threads of the local master it runs on."""

    @property
    def path(self) -> str:
        return f"examples/src/main/python/{self.name}.py"


ML = (
    Program("ml/aft_survival_regression"),
    Program("ml/als_example"),
    Program("ml/bisecting_k_means_example"),
    # With two partitions one of its folds has a single class, and the plain program fails.
    Program("ml/cross_validator", fits=13, slots=4),
    Program("ml/estimator_transformer_param_example", fits=2),
    Program("ml/fm_classifier_example"),
    Program("ml/fm_regressor_example"),
    Program("ml/gaussian_mixture_example"),
    Program("ml/generalized_linear_regression_example"),
    Program("ml/gradient_boosted_tree_classifier_example"),
    Program("ml/gradient_boosted_tree_regressor_example"),
    Program("ml/kmeans_example"),
    Program("ml/lda_example"),
    Program("ml/linear_regression_with_elastic_net"),
    Program("ml/linearsvc"),
    Program("ml/logistic_regression_summary_example"),
    Program("ml/logistic_regression_with_elastic_net", fits=2),
    Program("ml/multiclass_logistic_regression_with_elastic_net"),
    Program("ml/multilayer_perceptron_classification"),
    Program("ml/one_vs_rest_example", fits=3),
    Program("ml/pipeline_example"),
    Program("ml/power_iteration_clustering_example"),
    Program("ml/train_validation_split", fits=13),
    Program("ml/word2vec_example"),
)
MLLIB = (
    Program("mllib/binary_classification_metrics_example"),
    Program("mllib/bisecting_k_means_example"),
    Program("mllib/gaussian_mixture_example"),
    # It cannot read the wheel's gmm_data.txt, whose lines begin with a blank.
    Program("mllib/gaussian_mixture_model", arguments=("{inputs}/points.txt", "2", "--seed", "7")),
    Program("mllib/gradient_boosting_classification_example"),
    Program("mllib/gradient_boosting_regression_example"),
    Program("mllib/k_means_example"),
    Program("mllib/kmeans", arguments=("data/mllib/kmeans_data.txt", "2")),
    Program("mllib/latent_dirichlet_allocation_example"),
    Program("mllib/linear_regression_with_sgd_example"),
    Program("mllib/logistic_regression", arguments=("{inputs}/points.txt", "10")),
    Program("mllib/logistic_regression_with_lbfgs_example"),
    Program("mllib/multi_class_metrics_example"),
    Program("mllib/power_iteration_clustering_example"),
    Program("mllib/ranking_metrics_example"),
    Program("mllib/recommendation_example"),
    Program("mllib/regression_metrics_example"),
    Program("mllib/streaming_k_means_example"),
    Program("mllib/streaming_linear_regression_example", arguments=("{inputs}/train", "{inputs}/test"), feeds=True),
    Program("mllib/svm_with_sgd_example"),
    Program("mllib/word2vec", arguments=("{inputs}/words.txt",)),
    Program("mllib/word2vec_example"),
)
PROGRAMS = ML + MLLIB

IN_TESTS = (
    "ml/logistic_regression_with_elastic_net",
    "ml/kmeans_example",
    "ml/one_vs_rest_example",
    "ml/gaussian_mixture_example",
    "mllib/svm_with_sgd_example",
    "mllib/linear_regression_with_sgd_example",
)
"""The six that the test suite runs: l-bfgs, k-means, a wrapper, expectation maximisation, two of the old API."""


def write_inputs(folder: Path) -> None:
    """The files that five of the programs want and the wheel does not have, and a seed for all."""
    (folder / "points.txt").write_text("".join(f"{i % 2} {i % 7} {i % 3}\n" for i in range(60)))
    (folder / "words.txt").write_text("china is a big country and india is one too\n" * 50)
    for name in ("train", "test"):
        (folder / name).mkdir()
    # Most of them split their data at random without a seed; Python imports this file when it starts.
    (folder / "sitecustomize.py").write_text("import random\n\nrandom.seed(0)\n")


def feed(folder: Path, number: int) -> None:
    """Move the next file into a streaming program's folder: it reads a file as soon as it sees it."""
    for name in ("train", "test"):
        written = folder / f"{name}-{number}.txt"
        written.write_text("".join(f"({i % 3},[{i % 3},{i % 5},{i % 2}])\n" for i in range(30)))
        written.rename(folder / name / written.name)
