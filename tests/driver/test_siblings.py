"""Which fits belong together, and how they are told apart."""

from slaq.driver.siblings import GROUPS_KEPT, VALUES_KEPT, Siblings
from slaq.spark.records import Begin


def begin(job, uid="LogisticRegression_1", **said):
    return Begin(0, job, "LogisticRegression", uid=uid, **said)


def test_fits_of_one_estimator_are_a_group():
    siblings = Siblings()
    assert siblings.begin(begin("a")) == siblings.begin(begin("b")) == "LogisticRegression_1"
    assert siblings.begin(begin("c", uid="KMeans_2")) == "KMeans_2"
    assert siblings.begin(begin("d", uid=None)) == ""


def test_fits_inside_a_fit_belong_to_the_outermost_one():
    siblings = Siblings()
    siblings.begin(begin("search", uid="CrossValidator_1", wrapper=True))
    siblings.begin(begin("pipeline", uid="Pipeline_1", wrapper=True, parent="search"))
    assert siblings.begin(begin("fit", parent="pipeline")) == "CrossValidator_1"
    siblings.end("search")
    siblings.end("pipeline")
    assert siblings.begin(begin("later", parent="pipeline")) == "LogisticRegression_1"


def test_a_group_that_the_user_named_comes_first():
    siblings = Siblings()
    siblings.begin(begin("search", uid="CrossValidator_1", wrapper=True))
    assert siblings.begin(begin("fit", parent="search", group="mine")) == "mine"


def test_members_are_told_apart_by_what_differs():
    siblings = Siblings()
    grid = [{"regParam": reg, "maxIter": 20, "family": family} for reg in (0.0, 0.1) for family in ("auto", "binomial")]
    for number, params in enumerate(grid):
        siblings.begin(begin(str(number), params=params))
    assert [siblings.differing("LogisticRegression_1", params) for params in grid[:2]] == [
        "regParam=0, family=auto",
        "regParam=0, family=binomial",
    ]
    assert siblings.differing("another", grid[0]) == ""


def test_what_is_remembered_is_bounded():
    siblings = Siblings()
    for number in range(GROUPS_KEPT + 10):
        siblings.begin(begin(str(number), uid=f"uid-{number}", params={"k": number}))
    for number in range(VALUES_KEPT + 10):
        siblings.begin(begin(str(number), params={"k": number}))
    assert len(siblings._values) == GROUPS_KEPT
    assert len(siblings._values["LogisticRegression_1"]["k"]) == VALUES_KEPT
