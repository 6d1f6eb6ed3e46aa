"""The bridge to Optuna on real Spark, with SLAQ attached."""

import pytest
from pyspark.ml.classification import MultilayerPerceptronClassifier

import slaq
from slaq.errors import SlaqError
from tests.driver.session import example, start

optuna = pytest.importorskip("optuna")
from slaq.tuning.optuna import watched  # noqa: E402 - only where there is Optuna

pytestmark = pytest.mark.spark
ITERATIONS = 400


@pytest.fixture(scope="module")
def trials():
    return example("optuna_trials")


@pytest.fixture(scope="module")
def session():
    started = start()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield started
    started.stop()


@pytest.fixture
def spark(session):
    with slaq.attach(session, epoch_s=0.2, lease_s=2.0):
        yield session


def fit(data, iterations=ITERATIONS):
    return MultilayerPerceptronClassifier(layers=[4, 4, 2], solver="gd", maxIter=iterations, tol=0.0, seed=1).fit(data)


def test_the_example_reports_losses_turned_with_the_direction_of_the_study(spark, trials):
    study = trials.main(spark, trials=3, iterations=60)
    assert [trial.number for trial in study.trials] == [0, 1, 2]
    assert {trial.state.name for trial in study.trials} <= {"COMPLETE", "PRUNED"}
    assert study.trials[0].state.name == "COMPLETE"
    assert 0.3 < study.best_value <= 1.0
    values = study.trials[0].intermediate_values
    assert len(values) > 5
    assert list(values) == list(range(len(values)))
    assert all(value < 0 for value in values.values())
    assert {job.group for job in slaq.jobs() if job.estimator != "other work"} == {study.study_name}


def test_a_pruned_trial_stops_its_fit_and_keeps_no_result(spark, trials):
    data = trials.training_data(spark)
    study = optuna.create_study(pruner=optuna.pruners.ThresholdPruner(upper=0.0))
    stopped = []

    def objective(trial):
        with watched(trial, name="hopeless"):
            fit(data)
            stopped.extend(job for job in slaq.jobs() if job.name.startswith("hopeless/"))
        return 1.0

    study.optimize(objective, n_trials=1)
    (trial,) = study.trials
    assert trial.state.name == "PRUNED"
    assert 0 < len(trial.intermediate_values) < ITERATIONS
    assert trial.value > 0
    (job,) = stopped
    assert job.iteration < ITERATIONS


def test_a_trial_whose_fit_fails_fails_and_a_study_of_two_objectives_is_refused(spark, trials):
    data = trials.training_data(spark)
    study = optuna.create_study()
    with pytest.raises(Exception, match="nowhere"), watched(study.ask()):
        MultilayerPerceptronClassifier(layers=[4, 2], featuresCol="nowhere").fit(data)
    two = optuna.create_study(directions=["minimize", "maximize"])
    with pytest.raises(SlaqError, match="more than one objective"), watched(two.ask()):
        pass
