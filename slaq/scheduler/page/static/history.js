// History: the cores of a past time, any minute of it, and what another policy would have made of it.

import { Chart, stackedCores } from "./charts.js";
import { h, put } from "./dom.js";
import { clock, cores, count, loss } from "./format.js";
import { drawable } from "./past.js";
import { ask, store } from "./store.js";
import { Table } from "./table.js";
import { whatIf } from "./whatif.js";

const RANGES = [[600, "10 minutes"], [3600, "1 hour"], [21600, "6 hours"], [86400, "24 hours"], [604800, "7 days"]];
const MINUTE = 60;

const COLUMNS = [
  { key: "name", title: "Name", cell: (row) => row.title, sort: (row) => row.title.toLowerCase(), link: (row) => `#/job/${encodeURIComponent(row.id)}`, own: true },
  { key: "user", title: "User", cell: (row) => row.user, own: true },
  { key: "cores", title: "Mean cores", cell: (row) => cores(Number(row.mean_cores.toFixed(2))), sort: (row) => row.mean_cores, number: true },
  { key: "range", title: "Least to most", cell: (row) => `${cores(row.least_cores)} – ${cores(row.most_cores)}`, sort: (row) => row.most_cores, number: true, wide: true },
  { key: "iterations", title: "Losses told", cell: (row) => count(row.iterations), sort: (row) => row.iterations, number: true, wide: true },
  { key: "first", title: "First loss", cell: (row) => loss(row.first_loss), sort: (row) => row.first_loss, number: true, wide: true },
  { key: "last", title: "Last loss", cell: (row) => loss(row.last_loss), sort: (row) => row.last_loss, number: true },
  { key: "ended", title: "Ended", cell: (row) => row.ended || "–" },
  { key: "reason", title: "Last decision", cell: (row) => row.reason, wide: true },
];

// A local time as <input type="datetime-local"> takes it.
const local = (at) => new Date((at - new Date(at * 1000).getTimezoneOffset() * 60) * 1000).toISOString().slice(0, 16);

export function history(main) {
  const range = h("select", { id: "range", "aria-label": "Length of time" }, RANGES.map(([seconds, text]) => h("option", { value: seconds, selected: seconds === 3600 }, text)));
  const until = h("input", { type: "datetime-local", id: "until", "aria-label": "Until" });
  const minute = h("input", { type: "datetime-local", id: "minute", "aria-label": "Minute" });
  const button = (text, press, id) => h("button", { type: "button", id, onclick: press }, text);
  const known = h("p", { class: "muted small", role: "status" });
  const whole = h("div", { class: "chart pick" });
  const part = h("div", { class: "chart" });
  const told = h("p", { class: "muted small", role: "status" });
  const table = new Table("Jobs of this minute", COLUMNS, "-cores");
  const minuteCard = h("section", { class: "card", id: "replayed", hidden: true },
    h("h2", {}, "A minute of it"),
    h("div", { class: "filters" }, minute, button("← Minute before", () => show(at - MINUTE)), button("Minute after →", () => show(at + MINUTE), "after")),
    part, told, table.element);
  const tried = whatIf(() => ({ from: end - Number(range.value), until: end }));
  const card = h("section", { class: "card" }, h("h2", {}, "Cores by job"), whole, h("p", { class: "muted small" }, "Click on a moment to replay its minute, or choose one below."));
  main.replaceChildren(h("h1", {}, "History"),
    h("div", { class: "filters" }, range, h("label", {}, "until ", until), button("← Earlier", () => move(-1)), button("Later →", () => move(1)), button("Now", now, "now")),
    known, card, minuteCard, tried.element);
  const charts = [new Chart(whole, 260, "Cores by job over the chosen time"), new Chart(part, 180, "Cores by job in the minute")];
  charts[0].picked = (moment) => show(moment - MINUTE / 2);
  let end = 0, at = 0, asked = 0, closed = false, begun = false, latest = null, latestMinute = null, rows = [];
  table.changed = () => table.show(rows);

  const drawWhole = () => latest && stackedCores(charts[0], latest);
  const drawPart = () => latestMinute && stackedCores(charts[1], latestMinute);

  async function load() {
    const number = ++asked;
    until.value = local(end);
    put(known, "reading the decision log …");
    try {
      const { past, titles } = await ask("GET", `/v1/past?from=${end - Number(range.value)}&until=${end}`);
      if (closed || number !== asked) return;
      put(known, `${count(past.samples.length)} decisions shown; on record from ${new Date(past.begins_at * 1000).toLocaleString("en-GB")} on`);
      if (store.who?.admin) tried.offer(past.policies);
      latest = past.samples.length > 1 ? drawable(past.samples, titles) : null;
      card.hidden = !latest;
      drawWhole();
      if (!at) show(end - MINUTE);
      if (!latest) put(known, `Fewer than two decisions are on record in this time; the log begins at ${new Date(past.begins_at * 1000).toLocaleString("en-GB")}.`);
    } catch (error) {
      if (closed || number !== asked) return;
      card.hidden = minuteCard.hidden = true;
      tried.refuse();
      put(known, error.message);
    }
  }

  async function show(from) {
    at = Math.round(from);
    minuteCard.hidden = false;
    minute.value = local(at);
    const mine = at;
    try {
      const { past, titles } = await ask("GET", `/v1/past?from=${at}&until=${at + MINUTE}&jobs=1`);
      if (closed || mine !== at) return;
      put(told, `${clock(at)} to ${clock(at + MINUTE)}: ${count(past.jobs.length)} jobs, ${count(past.samples.length)} decisions`);
      latestMinute = past.samples.length > 1 ? drawable(past.samples, titles) : null;
      part.hidden = !latestMinute;
      drawPart();
      rows = past.jobs.map((job) => ({ ...job, title: titles[job.id]?.name ?? job.id, user: titles[job.id]?.user || job.user }));
      table.show(rows);
    } catch (error) {
      if (!closed && mine === at) put(told, error.message);
    }
  }

  function now() {
    end = Math.ceil(store.look?.status.now_at ?? Date.now() / 1000);
    load();
  }
  function move(way) {
    end += (way * Number(range.value)) / 2;
    load();
  }
  range.addEventListener("change", load);
  until.addEventListener("change", () => {
    if (!until.value) return;
    end = new Date(until.value).getTime() / 1000;
    load();
  });
  minute.addEventListener("change", () => minute.value && show(new Date(minute.value).getTime() / 1000));
  return {
    update() {
      if (!begun && store.look) {
        begun = true;
        now();
      }
      const theme = document.documentElement.dataset.theme;
      if (theme !== main.dataset.drawn) {
        main.dataset.drawn = theme;
        drawWhole();
        drawPart();
        tried.draw();
      }
    },
    close() {
      closed = true;
      table.close();
      tried.close();
      charts.forEach((chart) => chart.close());
    },
  };
}
