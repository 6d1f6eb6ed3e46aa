"""What the paper printed, figure by figure, and what each figure is about, for readers who have not read it."""

from typing import NamedTuple


class Figure(NamedTuple):
    """One figure of the report."""

    number: str
    title: str
    about: str
    printed: str
    """What the paper printed."""


FIGURES = {
    figure.number: figure
    for figure in (
        Figure(
            "1",
            "Most of the quality comes early",
            "Training improves a model step by step, and each step improves it less than the one before. The curves "
            "show how much of a job's time it takes to get a given share of its loss reduction.",
            "More than 80 % of the loss reduction within 20 % of the time; SVM: 95 % of it in 20 % of the time.",
        ),
        Figure(
            "3",
            "One job under a fair and a quality-driven scheduler",
            "The same job in the same crowd of other jobs. A fair scheduler gives every job the same cores all the "
            "time; a quality-driven one gives a job many while they improve it much.",
            "90 % accuracy after 70 s with SLAQ and after 230 s with the fair scheduler.",
        ),
        Figure(
            "5",
            "Losses of different algorithms, made comparable",
            "A loss of 300 in clustering and one of 0.4 in classification mean nothing to each other. Divided by the "
            "largest change a job has seen, the changes of all algorithms fall from 1 to 0.",
            "All algorithms' normalised changes fall from 1 to 0 within about 100 iterations.",
        ),
        Figure(
            "6",
            "Predicting the loss a few iterations ahead",
            "The scheduler must know what further iterations will buy. Error in shares of the run's whole loss "
            "reduction, when predicting 1, 5 and 10 iterations ahead.",
            "3.5 % for 10 iterations ahead with the weighted curve fit (relative to the loss itself).",
        ),
        Figure(
            "7a",
            "Average loss of the running jobs",
            "The mean over all running jobs of the normalised loss: 1 when a job arrives, 0 when it is done. Lower "
            "means better models at any time. Spikes are arrivals.",
            "73 % lower with SLAQ than with the fair scheduler (it prints 0.49, which fits 0.049 and 0.18).",
        ),
        Figure(
            "7b",
            "Time until a share of the loss reduction",
            "How long a job takes, on average, until its loss has fallen by a given share of what it will ever fall.",
            "90 %: 39 s instead of 71 s (−45 %); 95 %: 68 s instead of 98 s (−30 %).",
        ),
        Figure(
            "8",
            "Who holds the cores",
            "The running jobs at each moment, grouped by loss: the quarter with the highest, the next quarter, and the "
            "half with the lowest. A fair scheduler would give 25, 25 and 50 % of the cores.",
            "The highest quarter holds 60 % of the cores, the lower half 22 %.",
        ),
        Figure(
            "9",
            "The busier the cluster, the larger the gain",
            "Time to 90 % and 95 % of the loss reduction when jobs arrive more or less often.",
            "A job every 10 s: 23 % (90 %) and 20 % (95 %) less time; every 4 s: 44 % and 30 % less.",
        ),
        Figure(
            "10a",
            "Prediction error by algorithm",
            "Error 10 iterations ahead, in shares of the run's whole loss reduction, for every algorithm.",
            "Less than 5 % for every algorithm (relative to the loss itself).",
        ),
        Figure(
            "10b",
            "Predicting how long an iteration takes",
            "Drivers report the work of every iteration and the seconds in which it had no stage to run. Together they "
            "tell how long an iteration takes on any number of cores. The paper measured; here the iterations of "
            "simulated jobs vary by 5 %.",
            "The CPU time of an iteration is the same on 32 to 256 cores, so its time is work divided by cores.",
        ),
        Figure(
            "10c",
            "Time to decide",
            "CPU seconds for one decision of the whole engine: fit every job's curve, share out every core, give every "
            "job a reason.",
            "Hundreds of milliseconds to a few seconds for 4,000 jobs on 16,000 cores.",
        ),
    )
}
