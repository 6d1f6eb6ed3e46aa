// The overview: numbers, cores stacked by job, jobs that wait, and quality.

import { Chart, lines, stackedCores } from "./charts.js";
import { h, put } from "./dom.js";
import { cores, count, percent, seconds } from "./format.js";
import { store } from "./store.js";

const WAITING = ["queued", "held", "over-quota", "preempted"];

export function overview(main) {
  const tiles = {};
  const tile = (key, label) => {
    tiles[key] = h("dd", {}, "–");
    tiles[`${key}Note`] = h("dd", { class: "muted" });
    return h("div", { class: "card tile" }, h("dt", {}, label), tiles[key], tiles[`${key}Note`]);
  };
  const stacked = h("div", { class: "chart" });
  const waiting = h("div", { class: "chart" });
  const quality = h("div", { class: "chart" });
  main.replaceChildren(
    h("h1", { class: "sr" }, "Overview"),
    h("dl", { class: "tiles" }, tile("cores", "Cores given"), tile("running", "Jobs running"), tile("waiting", "Jobs waiting"),
      tile("quality", "Mean quality"), tile("health", "Health")),
    h("section", { class: "card" }, h("h2", {}, "Cores by job"), stacked),
    h("div", { class: "two" },
      h("section", { class: "card" }, h("h2", {}, "Jobs waiting"), waiting),
      h("section", { class: "card" }, h("h2", {}, "Mean quality"), h("p", { class: "muted small" }, "Share of the expected loss reduction that training jobs have reached; ",
        h("a", { href: "#/history" }, "what would another policy have given?")), quality)));
  const charts = [new Chart(stacked, 300, "Cores by job over time"), new Chart(waiting, 170, "Jobs waiting over time"), new Chart(quality, 170, "Mean quality over time")];

  function update() {
    if (!store.look) return;
    const { status } = store.look;
    const number = (states) => states.reduce((sum, state) => sum + (status.jobs[state] ?? 0), 0);
    put(tiles.cores, `${cores(status.granted_cores)} of ${count(status.capacity.cores)}`);
    put(tiles.coresNote, `${count(status.applications)} applications, policy ${status.policy}`);
    put(tiles.running, count(number(["running", "idle"])));
    put(tiles.runningNote, `${count(status.jobs.finished ?? 0)} finished`);
    put(tiles.waiting, count(number(WAITING)));
    put(tiles.waitingNote, WAITING.filter((state) => status.jobs[state]).map((state) => `${status.jobs[state]} ${state}`).join(", "));
    put(tiles.quality, percent(status.mean_loss === null ? null : 1 - status.mean_loss));
    put(tiles.qualityNote, "of the expected loss reduction");
    put(tiles.health, status.problems.length ? `${status.problems.length} to look at` : "good");
    put(tiles.healthNote, `decides in ${(1000 * status.decide_s).toFixed(1)} ms, up ${seconds(status.now_at - status.started_at)}`);
    const samples = store.samples;
    if (samples.length < 2) return;
    const times = samples.map((sample) => sample[0]);
    stackedCores(charts[0], samples);
    lines(charts[1], times, [{ label: "waiting", values: samples.map((sample) => sample[3]), stepped: true, shade: 4 }], (_, __, top) => [0, Math.max(top * 1.1, 1)]);
    lines(charts[2], times, [{ label: "quality", values: samples.map((sample) => sample[4]), shade: 2 }], () => [0, 1]);
    const [, total, given, wait] = samples.at(-1);
    stacked.setAttribute("aria-label", `Cores by job over time; now ${cores(given)} of ${total} cores are given`);
    waiting.setAttribute("aria-label", `Jobs waiting over time; now ${wait}`);
    quality.setAttribute("aria-label", `Mean quality over time; now ${percent(samples.at(-1)[4])}`);
  }
  return { update, close: () => charts.forEach((chart) => chart.close()) };
}
