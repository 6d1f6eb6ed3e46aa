"""The numbers that decide outcomes, in one record that is passed in, logged with the state and swept in simulation."""

from msgspec import Struct

WORTH_OF_THE_END = {"good": 0.1, "balanced": 0.6, "done": 2.0}
"""What `scheduler.prefer` means to `finish-line`: `worth_end` in words."""


class Tuning(Struct, frozen=True, kw_only=True):
    """What predictions and policies are tuned with.

    The defaults were chosen on simulated seeds from 100 on and on recorded streams of the nine algorithms on two cores;
    published results are of other seeds. Numbers that belong to the learned forecast (the definition of its features)
    stand beside its coefficients: to change them means to learn again.
    """

    optimism: float = 0.05
    """Share of its recent movement that every job is believed to keep. A job that still moves is never written off: a
    starved job reports nothing that could correct a wrong forecast."""
    least_optimism: float = 1e-6
    """The same for a job that stands still, in largest changes per iteration: spreads cores that nobody gains from."""
    optimism_lasts: float = 64.0
    """Iterations after which that belief has halved."""
    settled: float = 1e-3
    """A job with less than this left to gain (of its largest change) is at its limit: a loss that only rises or never
    moved must not pass for the worst job, which `max-min` would feed without end."""
    usual_length: float = 100.0
    """Iterations after which a job without `max_iterations` is expected to end: MLlib's usual `maxIter`."""
    lasting: float = 0.3
    """A job is expected to last for at least this share of the iterations it has made already."""
    fit_decay: float = 0.8
    """`weighted-fit`: what a loss counts relative to the next newer one (SLAQ §4.2.2)."""
    unseen_95: float = 0.2
    """`weighted-fit`: share of its iterations after which a job with fewer than two losses is expected to reach 95 %,
    as an SVM does in SLAQ's Figure 1."""
    more_to_ready: float = 0.5
    """A job that has taken longer than others to its first loss is expected to take this share of it again."""
    overdue: float = 2.0
    """An iteration that has cost more than this many times its usual work is taken for a longer one."""
    own_costs: float = 3.0
    """Iterations of its own after which a job's measured work counts alone, and no longer what past fits took: their
    median is steady by then."""
    few_fits: float = 0.25
    """Past fits that an average over past fits is short of by its nature: with one that is exactly alike it is sure to
    1 / 1.25. Nearly all of the gain is in the first fit, since what repeats repeats closely."""
    size_apart: float = 0.5
    """Past fits whose data differ by this in the logarithm of a size (1.6 times the bytes) count exp(-1/2) as much."""
    param_apart: float = 0.7
    """The same for the difference in a parameter, of which another word, or a number e times as large, counts 1."""
    unlike_variance: float = 4.0
    """Of the logarithm of what fits take that are not alike, at least: factors of seven are usual among the data sets
    and parameters of one estimator."""
    least_serial_s: float = 0.001
    """Serial parts of an iteration below this are all the same to averages of logarithms."""
    crowd_share: float = 0.05
    """Of its fair share, what a job is sure of with more jobs than cores. A larger share is handed out against the
    policy's judgement, a smaller one leaves a misjudged job without the reports that could correct it."""
    latest: float = 9.5
    """`finish-line` with jobs ≤ cores: nobody ends later than so many times its time under `fair`. A little below ten,
    since a job that is due more cores gets them with the next decision only."""
    late_ahead: float = 8.0
    """Epochs by which that is looked after in advance, but never beyond twice a job's age: to bring a job to its end in
    the last moment takes more from others at once, who reach 90 % later by one or two percent."""
    worth_90: float = 1.0
    """`finish-line`: what it is worth to bring a job to 90 % of its loss reduction, in whole loss reductions. Models
    become useful at 90 and 95 % (SLAQ §6.2.1)."""
    worth_95: float = 0.8
    """The same for 95 %."""
    worth_end: float = WORTH_OF_THE_END["balanced"]
    """The same for the end: worth less to those who wait for a model, but not nothing to those who wait for a core.
    `scheduler.prefer` sets it in words."""
    plan_slot_s: float = 10.0
    """`oasis`: length of a slot of its plans: several epochs, several iterations of most fits."""
    plan_slots: float = 300.0
    """`oasis`: slots that plans reach ahead."""
    plan_slack: float = 0.1
    """`oasis`: part of its work by which a job's plan may be off before the job is planned anew. Forecasts move
    by a few percent with every report."""
    trial_grace_weight: float = 4.0
    """Trials: what the length of a victim's tasks counts relative to the cores that it holds; FitGpp's s, 4 there."""
    trial_most_preemptions: float = 3.0
    """A job makes room for trials at most this often. FitGpp's P is 1, for jobs that lose time by it; here a victim
    keeps its state and loses only cores."""
    trial_least_run_s: float = 2.0
    """A job that began, or resumed, less than this ago is left alone: a few epochs, several tasks."""
    plans_at_once: float = 8.0
    """`oasis`: plans made in one decision at most, a few milliseconds each; the others follow in the next."""


DEFAULTS = Tuning()
