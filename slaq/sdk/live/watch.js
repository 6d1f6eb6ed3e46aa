// The jobs of a notebook's session: a table, the cores since the view opened, and the curve of the job that is chosen.

import { Chart, lossCurve, paintLike, stackedCores } from "./charts.js";
import { forecast } from "./forecast.js";
import { cores, loss, percent, seconds } from "./format.js";
import { h, name, put } from "./dom.js";

const SAMPLES = 600;
const HEADINGS = ["Job", "State", "Iteration", "Loss", "Cores", "Reached"];

export function render({ model, el }) {
  const view = crypto.randomUUID?.() ?? String(Math.random());
  const summary = h("div", { role: "status" });
  const body = h("tbody");
  const held = h("div", { class: "chart" });
  const curve = h("div", { class: "chart" });
  const title = h("h4");
  const heldPart = h("div", { hidden: true }, h("h4", {}, "Cores"), held);
  const curvePart = h("div", { hidden: true }, title, curve);
  const table = h("table", {}, h("thead", {}, h("tr", {}, HEADINGS.map((text) => h("th", { scope: "col" }, text)))), body);
  const root = h("div", { class: "slaq-watch" }, summary, h("div", { class: "slaq-rows" }, table),
    h("div", { class: "slaq-charts" }, curvePart, heldPart));
  el.replaceChildren(root);
  const heldChart = new Chart(held, 150, "Cores of each job over time");
  const curveChart = new Chart(curve, 190, "Loss by iteration with forecast");
  const rows = new Map();
  const samples = [];
  let chosen = null;

  function row(job) {
    let found = rows.get(job.id);
    if (!found) {
      const cells = HEADINGS.map(() => h("td"));
      const choose = h("button", { type: "button", onclick: () => { chosen = job.id; update(); } }, name(job.label));
      const bar = h("progress", { max: "1" });
      const share = h("span");
      cells[0].append(choose);
      cells[5].append(bar, " ", share);
      found = { element: h("tr", {}, cells), cells, choose, bar, share };
      rows.set(job.id, found);
    }
    const { cells } = found;
    const label = found.choose.firstChild;
    put(label, job.label);
    label.title = job.name;
    put(cells[1], job.state);
    put(cells[2], job.iteration === null ? "" : String(job.iteration));
    put(cells[3], loss(job.loss));
    put(cells[4], job.state !== "running" ? "" : job.cores === null ? "all" : cores(job.cores));
    const left = job.state === "running" && job.seconds_to_95 > 0 ? ` · 95 % in ${seconds(job.seconds_to_95)}` : "";
    found.bar.hidden = job.reached === null;
    found.bar.value = job.reached ?? 0;
    put(found.share, job.reached === null ? "" : percent(job.reached) + left);
    return found.element;
  }

  function fill(groups) {
    const wanted = [];
    for (const { heading, jobs } of groups) {
      if (heading) wanted.push(h("tr", {}, h("th", { scope: "rowgroup", colspan: "6" }, name(`${heading}: ${jobs.length} jobs`))));
      wanted.push(...jobs.map(row));
    }
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    body.replaceChildren(...wanted);
    focused?.focus();
  }

  function drawCurve(job) {
    curvePart.hidden = !job || job.curve.length < 2;
    if (curvePart.hidden) return;
    put(title, `Loss of ${job.name}`);
    const over = job.state !== "running";
    const ahead = forecast({
      losses: job.curve.map(([iteration, value]) => [0, iteration, value]),
      prediction: job.reached === null ? null : { standing: [job.reached, job.to_90, job.to_95] },
      job: { first_loss: job.first_loss, loss: job.loss, ended_at: over ? 0 : null },
    });
    lossCurve(curveChart, ahead.x, ahead.measured, ahead.expected, ahead.early, ahead.late);
    curve.setAttribute("aria-label", `Loss by iteration, from ${loss(job.first_loss)} to ${loss(job.loss)}`);
  }

  function sample(jobs) {
    const running = jobs.filter((job) => job.state === "running");
    const now = running.map((job) => [job.id, job.label, job.cores ?? job.tasks]);
    samples.push([Date.now() / 1000, null, now.reduce((sum, [, , each]) => sum + each, 0), 0, 0, now]);
    if (samples.length > SAMPLES) samples.shift();
    heldPart.hidden = !samples.some((each) => each[2] > 0) || samples.length < 2;
    if (!heldPart.hidden) stackedCores(heldChart, samples);
  }

  function update() {
    const { running = 0, ended = 0, groups = [] } = model.get("seen") ?? {};
    const jobs = groups.flatMap((group) => group.jobs);
    paintLike(root);
    put(summary, jobs.length ? `${running} running, ${ended} ended` : "No fit has begun yet.");
    table.hidden = jobs.length === 0;
    for (const id of [...rows.keys()]) if (!jobs.some((job) => job.id === id)) rows.delete(id);
    fill(groups);
    // The chosen one; otherwise one that trains; otherwise the one that ended last.
    const trained = jobs.filter((job) => job.curve.length > 1);
    const job = jobs.find((each) => each.id === chosen) ?? trained.findLast((each) => each.state === "running") ?? trained.at(-1);
    for (const [id, found] of rows) found.element.toggleAttribute("aria-current", id === job?.id);
    drawCurve(job);
  }

  function changed() {
    update();
    sample((model.get("seen")?.groups ?? []).flatMap((group) => group.jobs));
  }

  model.on("change:seen", changed);
  model.send({ view, open: true });
  changed();
  return () => {
    model.off("change:seen", changed);
    model.send({ view, open: false });
    heldChart.close();
    curveChart.close();
  };
}
