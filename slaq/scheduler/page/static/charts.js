// Charts by uPlot: areas stacked by job, lines, and a curve with its forecast. Colours come from the style sheet.

import { h } from "./dom.js";

const SCALE = 10;
let painted = document.documentElement;
// Whose style gives the colours from now on; in a notebook the page is not ours.
export const paintLike = (element) => (painted = element);
const colour = (variable) => getComputedStyle(painted).getPropertyValue(variable).trim();
export const shade = (place) => colour(`--c${place % SCALE}`);

const axis = (extra = {}) => ({
  stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui", ...extra,
});

// A chart in a place of the page: drawn anew when its series change, else only its data.
// `picked(at)` is called for a click; charts of one name `together` share a cursor; `times` {left, right} fixes the time
// axis, which is the time of day unless it counts `seconds`.
export class Chart {
  constructor(place, height, label) {
    this.place = place;
    this.height = height;
    this.plot = null;
    this.key = "";
    this.picked = null;
    this.together = null;
    this.times = null;
    this.seconds = false;
    place.setAttribute("role", "img");
    place.setAttribute("aria-label", label);
    this.observer = new ResizeObserver(() => this.plot?.setSize(this.size()));
    this.observer.observe(place);
  }

  size() {
    return { width: Math.max(this.place.clientWidth, 200), height: this.height };
  }

  draw(key, options, data) {
    key += document.documentElement.dataset.theme;
    if (this.plot && key === this.key) {
      this.plot.setData(data);
      return;
    }
    this.plot?.destroy();
    this.key = key;
    const range = this.times && { range: () => [this.times.left, this.times.right] };
    this.plot = new uPlot({
      ...this.size(),
      cursor: { drag: { x: false, y: false }, ...(this.together && { sync: { key: this.together } }) },
      legend: { live: false },
      plugins: [tip()],
      hooks: { ready: [(plot) => plot.over.addEventListener("click", () => this.picked?.(plot.posToVal(plot.cursor.left, "x")))] },
      ...options,
      scales: { x: { time: !this.seconds, ...range }, ...options.scales },
    }, data, this.place);
  }

  close() {
    this.observer.disconnect();
    this.plot?.destroy();
  }
}

// The values under the cursor, beside it.
function tip() {
  const box = h("div", { class: "tip", hidden: true });
  const said = (plot, series, place, at) => (series.value ? series.value(plot, plot.data[place][at], place, at) : String(plot.data[place][at]));
  return { hooks: {
    ready: (plot) => plot.over.append(box),
    setCursor: (plot) => {
      const { idx, left } = plot.cursor;
      box.hidden = !(idx >= 0 && left >= 0);
      if (box.hidden) return;
      const rows = plot.series.map((series, place) => [series, place])
        .filter(([series, place]) => place > 0 && plot.data[place][idx] !== null && plot.data[place][idx] !== undefined && said(plot, series, place, idx) !== "");
      box.replaceChildren(h("p", { class: "muted" }, said(plot, plot.series[0], 0, idx)), ...rows.map(([series, place]) => {
        const mark = h("i");
        mark.style.background = series.stroke(plot, place);
        return h("p", {}, mark, h("bdi", {}, series.label), h("b", {}, said(plot, series, place, idx)));
      }));
      const right = left > plot.over.clientWidth / 2;
      box.style.left = right ? "auto" : `${left + 14}px`;
      box.style.right = right ? `${plot.over.clientWidth - left + 14}px` : "auto";
    },
  } };
}

const clock = (at) => new Date(at * 1000).toLocaleTimeString("en-GB");
const time = (chart) => (chart.seconds ? (at) => `${Number(at.toFixed(1))} s` : clock);
const timeAxis = (chart) => axis({ values: (_, ticks) => ticks.map(time(chart)), space: 90, size: 34 });
const short = (value) => String(Number(value.toPrecision(4)));

// Cores of the jobs that held most of them, stacked; the others together on top.
export function stackedCores(chart, samples, most = 9) {
  const sums = new Map();
  for (const sample of samples) {
    for (const [id, title, cores] of sample[5]) {
      const entry = sums.get(id) ?? { id, title, sum: 0 };
      entry.sum += cores;
      sums.set(id, entry);
    }
  }
  const drawn = [...sums.values()].sort((a, b) => b.sum - a.sum).slice(0, most).sort((a, b) => (a.id < b.id ? -1 : 1));
  const places = new Map(drawn.map((entry, place) => [entry.id, place]));
  const own = drawn.map(() => []);
  const others = [];
  for (const sample of samples) {
    const row = new Float64Array(drawn.length);
    let named = 0;
    for (const [id, , cores] of sample[5]) {
      const place = places.get(id);
      if (place !== undefined) {
        row[place] = cores;
        named += cores;
      }
    }
    row.forEach((cores, place) => own[place].push(cores));
    others.push(Math.max(sample[2] - named, 0));
  }
  const rest = !drawn.length || others.some((cores) => cores >= 0.05);
  const layers = rest ? [...own, others] : own;
  const below = new Float64Array(samples.length);
  const sumsUp = layers.map((layer) => layer.map((cores, at) => (below[at] += cores)));
  const titles = drawn.map((entry) => entry.title.slice(0, 40));
  if (rest) titles.push("other jobs");
  const series = titles.map((title, place) => ({
    label: title,
    stroke: place === drawn.length ? colour("--muted") : shade(place),
    fill: place === drawn.length ? colour("--line") : `${shade(place)}cc`,
    width: 1, points: { show: false },
    paths: uPlot.paths.stepped({ align: 1 }),
  }));
  // uPlot fills to zero, so the tallest is drawn first and the lower ones over it.
  series.reverse();
  const known = samples.some((sample) => sample[1] !== null);
  const capacity = known ? [{ label: "capacity", stroke: colour("--text"), width: 1, dash: [5, 4], points: { show: false } }] : [];
  chart.draw(`${rest}${known}${drawn.map((entry) => entry.id)}`, {
    scales: { y: { range: (_, __, top) => [0, Math.max(top * 1.05, 1)] } },
    axes: [timeAxis(chart), axis({ size: 44 })],
    series: [{ value: (_, at) => time(chart)(at) }, ...series, ...capacity],
  }, [samples.map((sample) => sample[0]), ...sumsUp.reverse(), ...(known ? [samples.map((sample) => sample[1])] : [])]);
  // The values that are shown are of this data, also where the chart was not built anew.
  chart.plot.series.slice(1, titles.length + 1).reverse().forEach((entry, place) => {
    entry.value = (_, __, ___, at) => (layers[place][at] >= 0.05 ? layers[place][at].toFixed(1) : "");
  });
  return drawn;
}

export function lines(chart, times, curves, range) {
  chart.draw(curves.map((curve) => curve.label).join(), {
    legend: { show: curves.length > 1, live: false },
    scales: { y: { range } },
    axes: [timeAxis(chart), axis({ size: 44 })],
    series: [{ value: (_, at) => time(chart)(at) }, ...curves.map((curve, place) => ({
      label: curve.label, stroke: shade(curve.shade ?? place), width: 2,
      fill: curves.length === 1 ? `${shade(curve.shade ?? place)}30` : undefined, dash: curve.dash,
      value: (_, value) => short(value), spanGaps: curve.spanGaps ?? false,
      points: { show: false }, paths: curve.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
    }))],
  }, [times, ...curves.map((curve) => curve.values)]);
}

// Loss over iterations; ahead of it the forecast, with the band in which it lies in eight cases of ten.
export function lossCurve(chart, x, measured, expected, early, late) {
  chart.draw(`loss${expected.some((value) => value !== null)}`, {
    scales: { x: { time: false } },
    axes: [axis({ size: 34 }), axis({ size: 64, values: (_, ticks) => ticks.map(short) })],
    bands: [{ series: [4, 3], fill: `${shade(1)}40` }],
    series: [
      { value: (_, at) => `iteration ${at.toFixed(0)}` },
      { label: "loss", stroke: shade(0), width: 2, points: { show: x.length < 40 } },
      { label: "forecast", stroke: shade(1), width: 2, dash: [6, 4], points: { show: false }, spanGaps: true },
      { label: "if fast", stroke: `${shade(1)}70`, width: 1, points: { show: false }, spanGaps: true },
      { label: "if slow", stroke: `${shade(1)}70`, width: 1, points: { show: false }, spanGaps: true },
    ],
  }, [x, measured, expected, early, late]);
  for (const series of chart.plot.series.slice(1)) series.value = (_, value) => short(value);
}
