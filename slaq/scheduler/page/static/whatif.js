// What if: the jobs of a past time under another policy, and how that is computed.

import { Chart, lines, stackedCores } from "./charts.js";
import { h, put } from "./dom.js";
import { percent, seconds } from "./format.js";
import { drawable } from "./past.js";
import { ask } from "./store.js";

const TITLES = { recorded: "As it was", replayed: "Replayed", "what-if": "What if" };

export function whatIf(time) {
  const policy = h("select", { id: "policy", "aria-label": "Policy" });
  const button = h("button", { type: "button", id: "whatif", class: "main", onclick: replay }, "Replay");
  const said = h("p", { class: "muted small", role: "status" });
  const rows = h("tbody");
  const table = h("div", { class: "scroll" }, h("table", {}, h("caption", { class: "sr" }, "How the jobs fared"),
    h("thead", {}, h("tr", {}, ["", "Policy", "To 90 %", "To 95 %", "To the end", "Not ended", "Mean quality"].map((text, place) =>
      h("th", { scope: "col", class: place > 1 ? "number" : "" }, text)))), rows));
  const quality = h("div", { class: "chart" });
  const was = h("div", { class: "chart" });
  const would = h("div", { class: "chart" });
  const wasTitle = h("h3");
  const wouldTitle = h("h3");
  const found = h("div", { hidden: true }, table,
    h("h3", {}, "Mean quality of the counted jobs"), quality, wasTitle, was, wouldTitle, would);
  const element = h("section", { class: "card", id: "what-if", hidden: true }, h("h2", {}, "What if another policy had decided?"),
    h("div", { class: "filters" }, h("label", {}, "This time under ", policy), button), said, found,
    h("details", {}, h("summary", {}, "How this is computed"),
      h("p", {}, "The decision log tells who came when, the losses of every iteration, the work each took, and its pauses. The engine decides again, every epoch, with the other policy, and sees only what jobs would have told by then. Capacity, weights, quotas and jobs held by hand are as they were."),
      h("p", {}, "Cores are ideal in a replay: there are no tasks, slots or caches. So compare “What if” with “Replayed”, which is the policy that really decided, computed the same way; what lies between “Replayed” and “As it was” is the error of the method."),
      h("p", {}, "Counted are training jobs that began and ended in this time, because only their end is known. The others compete for cores and are not counted. This favours the policy that really decided: it chose which jobs ended in time. Means of times are over jobs that reached the mark in all three rows; quality is the share of its recorded loss reduction that a job has reached, from its begin until it has ended in all three rows.")));
  const charts = [new Chart(quality, 190, "Mean quality over time"), new Chart(was, 190, "Cores by job, replayed"), new Chart(would, 190, "Cores by job under the other policy")];
  let latest = null, closed = false;

  async function replay() {
    const { from, until } = time();
    button.disabled = true;
    put(said, "replaying; this can take a minute …");
    try {
      latest = await ask("GET", `/v1/what-if?from=${from}&until=${until}&policy=${encodeURIComponent(policy.value)}`);
      if (!closed) show();
    } catch (error) {
      latest = null;
      found.hidden = true;
      put(said, error.message);
    } finally {
      button.disabled = false;
    }
  }

  function show() {
    const { what_if: result } = latest;
    put(said, `${result.counted} training jobs began and ended in this time and are counted; ${result.left_out} did not and are not.`);
    rows.replaceChildren(...result.outcomes.map((row) => h("tr", {}, h("th", { scope: "row" }, TITLES[row.what]), h("td", {}, row.policy),
      ...[seconds(row.to_90_s), seconds(row.to_95_s), seconds(row.to_end_s), String(row.unfinished), percent(row.quality)].map((text) => h("td", { class: "number" }, text)))));
    put(wasTitle, `Cores by job, replayed under ${result.outcomes[1].policy}`);
    put(wouldTitle, `Cores by job under ${result.outcomes[2].policy}`);
    found.hidden = false;
    draw();
  }

  function draw() {
    if (!latest || found.hidden) return;
    const { what_if: result, titles } = latest;
    for (const chart of charts) {
      chart.together = "what-if";
      chart.times = { left: result.from_at, right: result.until_at };
    }
    lines(charts[0], result.times, result.outcomes.map((row, place) => ({
      label: `${TITLES[row.what]}: ${row.policy}`, values: result.quality[place], shade: [9, 0, 1][place], dash: place === 0 ? [4, 4] : undefined,
    })), () => [0, 1]);
    stackedCores(charts[1], drawable(result.replayed, titles));
    stackedCores(charts[2], drawable(result.what_if, titles));
  }

  return {
    element, draw,
    offer(names) {
      element.hidden = false;
      if (!policy.options.length) policy.append(...names.map((each) => h("option", { value: each, selected: each === "fair" }, each)));
    },
    refuse() {
      element.hidden = true;
    },
    close() {
      closed = true;
      charts.forEach((chart) => chart.close());
    },
  };
}
