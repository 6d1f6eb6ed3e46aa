// One job: its curve and forecast, its cores, and why it has them.

import { buttons } from "./actions.js";
import { Chart, lines, lossCurve } from "./charts.js";
import { h, name, put } from "./dom.js";
import { clock, coreTime, cores, count, loss, percent, seconds } from "./format.js";
import { forecast } from "./forecast.js";
import { ask, store } from "./store.js";

export function job(main, id) {
  const title = h("h1", {}, "…");
  const state = h("span", { class: "state" });
  const actions = h("div");
  const why = h("p", { class: "why" });
  const whyNote = h("p", { class: "muted small" });
  const curve = h("div", { class: "chart" });
  const held = h("div", { class: "chart" });
  const decisions = h("tbody");
  const decisionsCard = h("section", { class: "card", id: "decisions" }, h("h2", {}, "Decisions that changed its cores"), h("div", { class: "scroll" },
    h("table", {}, h("thead", {}, h("tr", {}, ["Time", "Cores", "Why"].map((text) => h("th", { scope: "col" }, text)))), decisions)));
  const facts = h("dl", { class: "facts" });
  const params = h("dl", { class: "facts" });
  const paramsCard = h("section", { class: "card" }, h("h2", {}, "Parameters"), params);
  main.replaceChildren(
    h("p", {}, h("a", { href: "#/jobs" }, "← Jobs")),
    h("div", { class: "headline" }, title, state, h("span", { class: "grow" }), actions),
    h("section", { class: "card" }, h("h2", {}, "Why it has its cores"), why, whyNote),
    h("section", { class: "card" }, h("h2", {}, "Loss"), curve),
    h("section", { class: "card" }, h("h2", {}, "Cores over time"), held),
    decisionsCard,
    h("div", { class: "two" }, h("section", { class: "card" }, h("h2", {}, "Facts"), facts), paramsCard));
  const charts = [new Chart(curve, 280, "Loss by iteration with forecast"), new Chart(held, 170, "Cores over time")];
  const current = {};
  let asking = false, closed = false, shown = "", over = false;

  async function update() {
    if (asking || closed || over) return;
    asking = true;
    try {
      const detail = await ask("GET", `/v1/jobs/${encodeURIComponent(id)}`);
      if (!closed) show(detail);
    } catch (error) {
      if (!closed && error.status === 404) {
        over = true;
        main.replaceChildren(h("p", {}, h("a", { href: "#/jobs" }, "← Jobs")), h("p", { class: "card" }, error.message));
      }
    } finally {
      asking = false;
    }
  }

  function show(detail) {
    const { job: found, explanation, prediction } = detail;
    over = found.ended_at !== null;
    if (!title.querySelector("bdi")) title.replaceChildren(name(found.name || found.estimator || found.id));
    put(state, found.state);
    state.dataset.mark = found.state;
    const live = store.jobs.find((each) => each.id === id);
    Object.assign(current, found, live, { state: found.state, stoppable: live?.stoppable ?? found.ml });
    // Made anew only if there are others to press, or the focus would be lost.
    const kind = over ? "over" : `${current.state === "held"}${current.stoppable}`;
    if (kind !== shown) {
      const had = actions.contains(document.activeElement);
      shown = kind;
      actions.replaceChildren(over ? "" : buttons(current, () => update()));
      if (had) actions.querySelector("button")?.focus();
    }
    put(why, found.reason);
    put(whyNote, explanation ? `Policy ${explanation.policy}, decision ${count(explanation.epoch)}; rule “${explanation.rule}”; at most ${cores(explanation.cap)} cores are of use, floor ${cores(explanation.floor)}, weight ${Number(explanation.weight.toPrecision(4))}.` : "");
    const ahead = forecast(detail);
    if (ahead.x.length > 1) lossCurve(charts[0], ahead.x, ahead.measured, ahead.expected, ahead.early, ahead.late);
    else put(curve, found.ml ? "No loss has been reported yet." : "This job reports no loss.");
    curve.setAttribute("aria-label", `Loss by iteration: ${count(found.reports)} reports, from ${loss(found.first_loss)} to ${loss(found.loss)}${ahead.end === null ? "" : `, expected to end at ${loss(ahead.end)}`}`);
    if (detail.cores.length) {
      const until = found.ended_at ?? store.look?.status.now_at ?? detail.cores.at(-1)[0];
      const times = [...detail.cores.map(([at]) => at), Math.max(until, detail.cores.at(-1)[0] + 1)];
      lines(charts[1], times, [{ label: "cores", values: [...detail.cores.map(([, each]) => each), over ? 0 : detail.cores.at(-1)[1]], stepped: true, shade: 0 }], (_, __, top) => [0, Math.max(top * 1.1, 1)]);
    }
    held.setAttribute("aria-label", `Cores over time; now ${cores(found.cores)}`);
    const changes = detail.decisions ?? [];
    decisionsCard.hidden = !changes.length;
    if (decisions.dataset.latest !== String(changes.at(-1)?.[0])) {
      decisions.dataset.latest = String(changes.at(-1)?.[0]);
      decisions.replaceChildren(...changes.toReversed().map(([at, given, sentence]) => h("tr", {}, h("td", {}, clock(at)), h("td", { class: "number" }, cores(given)), h("td", { class: "sentence" }, sentence))));
    }
    const standing = prediction?.standing;
    const milestones = (explanation?.ahead ?? []).map(([share, core_s, least, most]) =>
      [`To ${share === 1 ? "its end" : percent(share)}`, core_s > 0 ? `${coreTime(core_s)} (${coreTime(least)} to ${coreTime(most)})` : "reached"]);
    list(facts, [
      ["Id", found.id], ["User", found.user], ["Application", found.app_name || found.app], ["Estimator", found.estimator], ["Group", found.group || "–"],
      ["Cores", cores(found.cores)], ["Cost", coreTime(found.core_s)], ["Time", seconds((found.ended_at ?? store.look?.status.now_at ?? found.seen_at) - found.began_at)],
      ["Iteration", found.iteration === null ? "–" : count(found.iteration)], ["Loss", found.diverged ? "diverged" : loss(found.loss)],
      ["Expected at its end", ahead.end === null ? "–" : loss(ahead.end)], ["Quality", percent(standing?.[0])],
      ...milestones,
      ["Forecast error", prediction?.mean_error == null ? "–" : `${percent(prediction.mean_error)} of its loss reduction, ${count(prediction.judged)} forecasts`],
      ["Weight", String(Number(found.weight.toPrecision(4)))],
    ]);
    paramsCard.hidden = !Object.keys(detail.params ?? {}).length;
    list(params, Object.entries(detail.params ?? {}).sort().map(([key, value]) => [key, String(value)]));
  }
  return { update, close() { closed = true; charts.forEach((chart) => chart.close()); } };
}

function list(place, pairs) {
  const key = pairs.map(([title]) => title).join("\n");
  if (place.dataset.key !== key) {
    place.dataset.key = key;
    place.replaceChildren(...pairs.map(([title]) => h("div", {}, h("dt", {}, title), h("dd", {}, h("bdi")))));
  }
  pairs.forEach(([, text], row) => put(place.children[row].querySelector("bdi"), text));
}
