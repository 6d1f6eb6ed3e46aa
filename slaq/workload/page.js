// The demo's page: one stream under several policies, on one time axis.

import { Chart, lines, stackedCores } from "./charts.js";
import { h, name } from "./dom.js";

const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const dark = matchMedia("(prefers-color-scheme: dark)");
const redraw = [];
const seconds = (value) => `${value.toFixed(1)} s`;

function chart(height, label, together, draw) {
  const place = h("div", { class: "chart" });
  const made = new Chart(place, height, label);
  Object.assign(made, { seconds: true, together });
  redraw.push(() => draw(made));
  return place;
}

function numbers() {
  const heads = ["Policy", "To 90 %, mean", "To 95 %, mean", "To the end, mean", "Whole stream"];
  return h("div", { class: "scroll plain" }, h("table", {}, h("thead", {}, h("tr", {}, heads.map((text, place) => h("th", { scope: "col", class: place ? "number" : "" }, text)))),
    h("tbody", {}, data.runs.map((run) => h("tr", {}, h("th", { scope: "row" }, run.policy), run.times.map((value) => h("td", { class: "number" }, seconds(value))))))));
}

function bars() {
  const most = Math.max(...data.jobs.flatMap((job) => job.to_90));
  return h("table", { class: "bars" }, h("tbody", {}, data.jobs.map((job) => h("tr", {}, h("th", { scope: "row" }, name(job.name)),
    h("td", {}, job.to_90.map((value, place) => {
      const bar = h("i", { class: `shade${place}` });
      bar.style.width = `${(100 * value) / most}%`;
      return h("div", { class: "bar" }, h("span", {}, bar), h("b", {}, `${seconds(value)} ${data.runs[place].policy}`));
    }))))));
}

const card = (title, ...inside) => h("section", { class: "card" }, h("h2", {}, title), ...inside);

main.append(h("h1", {}, data.title), ...data.facts.map((fact) => h("p", {}, fact)),
  card("From arrival", numbers()),
  card("Mean loss left, of all jobs that have arrived", h("p", { class: "muted small" }, "1: as a job arrived, 0: as it ended"),
    chart(240, "Mean loss left over time", "stream", (made) => {
      made.times = { left: 0, right: data.until_s };
      lines(made, data.grid, data.runs.map((run) => ({ label: run.policy, values: run.loss })), () => [0, 1]);
    })),
  ...data.runs.filter((run) => run.cores.length).map((run) => card(`Cores held by job: ${run.policy}`,
    chart(240, `Cores held by each job over time under ${run.policy}`, "stream", (made) => {
      made.times = { left: 0, right: data.until_s };
      stackedCores(made, run.cores, 10);
    }))),
  card("Seconds from arrival to 90 % of the job's own loss reduction", bars()),
  h("h2", {}, "Loss left of every job, from its arrival"),
  h("div", { class: "three" }, data.jobs.map((job) => card(job.name, chart(170, `Loss left of ${job.name}`, job.name, (made) => {
    const tables = job.curves.map(([times, values]) => [times, values]);
    const [times, ...values] = uPlot.join(tables);
    made.times = { left: 0, right: Math.max(...times, 0.1) };
    lines(made, times, values.map((each, place) => ({ label: data.runs[place].policy, values: each, spanGaps: true })), () => [0, 1]);
  })))));

function draw() {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  redraw.forEach((each) => each());
}
dark.addEventListener("change", draw);
draw();
