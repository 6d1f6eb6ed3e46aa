"""slaq.tuning on real Spark, not attached: what pyspark finds without racing, and what a race does."""

import numpy as np
import pyspark.ml.tuning as stock
import pytest
from pyspark.ml import Pipeline
from pyspark.ml.classification import DecisionTreeClassifier, LogisticRegression
from pyspark.ml.evaluation import BinaryClassificationEvaluator, Evaluator
from pyspark.ml.linalg import Vectors

from slaq.errors import SlaqError
from slaq.tuning import CrossValidator, Race, TrainValidationSplit
from tests.driver.session import start

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def regression(data):  # noqa: ARG001 - an estimator needs the session of the data
    return LogisticRegression(maxIter=9, tol=0.0)


@pytest.fixture(scope="module")
def grid(regression):
    return [{regression.regParam: value} for value in (10.0, 0.1, 0.001, 30.0)]


@pytest.fixture(scope="module")
def settings(regression, grid):
    def made(**more):
        chosen = {"estimator": regression, "estimatorParamMaps": grid, "evaluator": BinaryClassificationEvaluator()}
        return {**chosen, "seed": 3, "parallelism": 3, **more}

    return made


@pytest.fixture(scope="module")
def data():
    session = start()
    random = np.random.default_rng(1)
    x = random.standard_normal((400, 4))
    y = x @ [1.0, -2.0, 0.5, 0.0] + random.standard_normal(400) > 0
    rows = [(float(label), Vectors.dense(*map(float, point))) for label, point in zip(y, x, strict=True)]
    yield session.createDataFrame(rows, ["label", "features"]).repartition(2).cache()
    session.stop()


class Scripted(Evaluator):
    """Gives these metrics, one after the other."""

    def __init__(self, metrics):
        super().__init__()
        self._metrics = iter(metrics)

    def _evaluate(self, dataset):  # noqa: ARG002 - the signature is pyspark's
        return next(self._metrics)


class Failing(Evaluator):
    def _evaluate(self, dataset):  # noqa: ARG002 - the signature is pyspark's
        raise ArithmeticError("cannot judge")


def test_without_racing_the_metrics_and_the_best_model_are_those_of_pyspark(data, settings):
    ours, theirs = (
        kind(**settings(numFolds=2, collectSubModels=True)).fit(data) for kind in (CrossValidator, stock.CrossValidator)
    )
    assert type(ours) is stock.CrossValidatorModel
    assert ours.avgMetrics == pytest.approx(theirs.avgMetrics, abs=1e-12)
    assert ours.stdMetrics == pytest.approx(theirs.stdMetrics, abs=1e-12)
    assert ours.bestModel.coefficients == theirs.bestModel.coefficients
    assert [len(models) for models in ours.subModels] == [4, 4]


def test_a_split_without_racing_is_that_of_pyspark(data, settings):
    split = TrainValidationSplit(**settings())
    theirs = stock.TrainValidationSplit(**settings())
    theirs._resetUid(split.uid)
    ours, theirs = split.fit(data), theirs.fit(data)
    assert type(ours) is stock.TrainValidationSplitModel
    assert ours.validationMetrics == pytest.approx(theirs.validationMetrics, abs=1e-12)
    assert ours.bestModel.coefficients == theirs.bestModel.coefficients


def test_a_race_compares_by_the_evaluator_after_the_rungs_and_fits_the_winner_in_full(data, settings, regression, grid):
    model = CrossValidator(**settings(numFolds=2, racing=True)).fit(data)
    first, second = model.race
    assert (first.iterations, second.iterations) == (2, 3)
    assert (len(first.metrics), len(first.kept)) == (4, 2)
    assert (set(second.metrics), len(second.kept)) == (set(first.kept), 1)
    winner = second.kept[0]
    assert model.bestModel.coefficients == regression.fit(data, grid[winner]).coefficients
    after_two = [{**params, regression.maxIter: 2} for params in grid]
    constant = stock.CrossValidator(**settings(numFolds=2, estimatorParamMaps=after_two)).fit(data)
    assert [first.metrics[place] for place in range(4)] == pytest.approx(constant.avgMetrics, abs=1e-12)


def test_the_constant_iterations_baseline_is_a_race_with_one_rung(data, settings, regression):
    pipeline = Pipeline(stages=[regression])
    model = TrainValidationSplit(**settings(estimator=pipeline, racing=Race(rungs=(4,)))).fit(data)
    (only,) = model.race
    assert (only.iterations, len(only.metrics), len(only.kept)) == (4, 4, 1)
    assert model.bestModel.stages[0].getMaxIter() == 9


def test_frozen_candidates_thaw_when_the_leader_gets_worse(data, settings):
    judge = Scripted([0.9, 0.8, 0.1, 0.2, 0.05, 0.06, 0.3, 0.4])
    model = TrainValidationSplit(**settings(evaluator=judge, parallelism=1, racing=True)).fit(data)
    first, second = model.race
    assert (first.kept, first.thawed) == ((0, 1), ())
    assert (second.thawed, second.kept) == ((3, 2), (2,))
    assert model.validationMetrics == [0.05, 0.06, 0.4, 0.3]
    assert model.bestModel.getRegParam() == 0.001


def test_what_was_saved_is_loaded_as_what_it_was(data, settings, tmp_path):  # noqa: ARG001 - needs the session
    split = TrainValidationSplit(**settings(trainRatio=0.6, racing=True))
    split.save(str(tmp_path / "split"))
    loaded = TrainValidationSplit.load(str(tmp_path / "split"))
    assert type(loaded) is TrainValidationSplit
    assert (loaded.uid, loaded.getTrainRatio(), loaded.getSeed()) == (split.uid, 0.6, 3)
    assert len(loaded.getEstimatorParamMaps()) == 4
    assert loaded.getRacing() is None


def test_one_candidate_is_not_raced(data, settings, grid):
    model = TrainValidationSplit(**settings(estimatorParamMaps=grid[:1], racing=True)).fit(data)
    assert model.race == []
    assert len(model.validationMetrics) == 1


def test_a_candidate_that_fails_is_out_of_the_race_and_fails_a_search_without_one(
    data, caplog, settings, regression, grid
):
    missing = [{regression.featuresCol: "nowhere"}, *grid[:2]]
    model = TrainValidationSplit(**settings(estimatorParamMaps=missing, racing=True)).fit(data)
    assert np.isnan(model.validationMetrics[0])
    assert model.race[-1].kept[0] != 0
    assert "candidate 0 is out of the race, its fit failed" in caplog.text
    with pytest.raises(Exception, match="nowhere"):
        TrainValidationSplit(**settings(estimatorParamMaps=missing)).fit(data)
    with pytest.raises(SlaqError, match="no candidate can win: of 2, 2 failed"):
        TrainValidationSplit(**settings(estimatorParamMaps=missing[:1] * 2, racing=True)).fit(data)


@pytest.mark.parametrize("racing", [True, False])
def test_an_evaluator_that_fails_ends_the_search(data, racing, settings):
    with pytest.raises(ArithmeticError, match="cannot judge"):
        TrainValidationSplit(**settings(evaluator=Failing(), racing=racing)).fit(data)


def test_an_estimator_without_iterations_cannot_race(data, settings):
    with pytest.raises(SlaqError, match=r"DecisionTreeClassifier \(candidate 0\) has no maxIter; use racing=False"):
        CrossValidator(**settings(estimator=DecisionTreeClassifier(), estimatorParamMaps=[{}, {}], racing=True)).fit(
            data
        )
    with pytest.raises(SlaqError, match="estimatorParamMaps is empty"):
        CrossValidator(**settings(estimatorParamMaps=[])).fit(data)
