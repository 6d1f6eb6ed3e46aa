// Jobs and groups: filter, sort, search.

import { h, put, say } from "./dom.js";
import { coreTime, cores, count, loss, percent, seconds } from "./format.js";
import { ask, store } from "./store.js";
import { Table } from "./table.js";

const ENDED = ["finished", "stopped", "failed", "cancelled", "lost"];
const LIVING = ["running", "queued", "idle", "held", "over-quota", "preempted"];
const kept = { search: "", state: "active", user: "", group: false, sorted: "-cores" };

const COLUMNS = [
  { key: "name", title: "Name", cell: (row) => row.name || row.estimator || row.id, sort: (row) => (row.name || row.id).toLowerCase(), link: (row) => `#/job/${encodeURIComponent(row.id)}`, own: true },
  { key: "state", title: "State", cell: (row) => row.state, mark: (row) => row.state },
  { key: "user", title: "User", cell: (row) => row.user, own: true },
  { key: "estimator", title: "Estimator", cell: (row) => row.estimator, wide: true, own: true },
  { key: "group", title: "Group", cell: (row) => row.group, wide: true, own: true },
  { key: "cores", title: "Cores", cell: (row) => cores(row.cores), sort: (row) => row.cores, number: true },
  { key: "loss", title: "Loss", cell: (row) => (row.diverged ? "diverged" : loss(row.loss)), sort: (row) => row.loss, number: true },
  { key: "reached", title: "Quality", cell: (row) => percent(row.reached), sort: (row) => row.reached, number: true },
  { key: "iteration", title: "Iteration", cell: (row) => (row.iteration === null ? "–" : count(row.iteration)), sort: (row) => row.iteration, number: true, wide: true },
  { key: "weight", title: "Weight", cell: (row) => String(Number(row.weight.toPrecision(4))), sort: (row) => row.weight, number: true, wide: true },
  { key: "core_s", title: "Cost", cell: (row) => coreTime(row.core_s), sort: (row) => row.core_s, number: true, wide: true },
  { key: "age", title: "Time", cell: (row) => seconds((row.ended_at ?? store.look.status.now_at) - row.began_at), sort: (row) => (row.ended_at ?? store.look.status.now_at) - row.began_at, number: true, wide: true },
];

const GROUPS = [
  { key: "name", title: "Group", cell: (row) => row.name, own: true },
  { key: "user", title: "User", cell: (row) => row.user, own: true },
  { key: "jobs", title: "Jobs", cell: (row) => count(row.jobs), sort: (row) => row.jobs, number: true },
  { key: "waiting", title: "Waiting", cell: (row) => count(row.waiting), sort: (row) => row.waiting, number: true },
  { key: "cores", title: "Cores", cell: (row) => cores(row.cores), sort: (row) => row.cores, number: true },
  { key: "best", title: "Lowest loss", cell: (row) => loss(row.best), sort: (row) => row.best, number: true },
  { key: "reached", title: "Mean quality", cell: (row) => percent(row.reached), sort: (row) => row.reached, number: true },
  { key: "core_s", title: "Cost", cell: (row) => coreTime(row.core_s), sort: (row) => row.core_s, number: true, wide: true },
];

export function jobs(main) {
  let ended = null;
  const search = h("input", { type: "search", id: "search", placeholder: "Name, user, estimator, group, id  ( / )", value: kept.search, "aria-label": "Search jobs" });
  const state = h("select", { id: "state", "aria-label": "State" }, [["active", "active"], ...LIVING.map((s) => [s, s]), ["ended", "ended"], ...ENDED.map((s) => [s, s])]
    .map(([value, text]) => h("option", { value, selected: value === kept.state }, text)));
  const user = h("select", { id: "user", "aria-label": "User" }, h("option", { value: "" }, "all users"));
  const group = h("input", { type: "checkbox", id: "grouped", checked: kept.group });
  const number = h("p", { class: "muted small", role: "status" });
  const list = new Table("Jobs", COLUMNS, kept.sorted);
  const groups = new Table("Groups of jobs", GROUPS, "-cores");
  main.replaceChildren(h("h1", {}, "Jobs"),
    h("div", { class: "filters", role: "search" }, search, state, user, h("label", {}, group, " by group")), number, list.element, groups.element);
  list.changed = groups.changed = () => update();
  search.addEventListener("input", () => update());
  user.addEventListener("change", () => update());
  group.addEventListener("change", () => update());
  state.addEventListener("change", load);

  async function load() {
    ended = null;
    const wanted = state.value === "ended" ? ENDED : ENDED.includes(state.value) ? [state.value] : null;
    if (wanted) {
      try {
        const found = await ask("GET", `/v1/jobs?limit=1000&${wanted.map((each) => `state=${each}`).join("&")}`);
        ended = found.jobs.map((job) => ({ ...job, reached: job.normalised_loss === null ? null : 1 - job.normalised_loss }));
      } catch (error) {
        say(error.message);
        ended = [];
      }
    }
    update();
  }

  function matching() {
    const text = search.value.trim().toLowerCase();
    const past = state.value === "ended" || ENDED.includes(state.value);
    return (past ? ended ?? [] : store.jobs).filter((job) =>
      (past || state.value === "active" || job.state === state.value) && (!user.value || job.user === user.value) &&
      (!text || [job.name, job.user, job.estimator, job.group, job.id].some((field) => field.toLowerCase().includes(text))));
  }

  function update() {
    if (!store.look) return;
    const users = store.look.users.map((each) => each.user);
    if ([...user.options].slice(1).map((option) => option.value).join("\n") !== users.join("\n")) {
      const chosen = user.value || kept.user;
      user.replaceChildren(h("option", { value: "" }, "all users"), ...users.map((each) => h("option", { value: each, selected: each === chosen }, each)));
    }
    const rows = matching();
    Object.assign(kept, { search: search.value, state: state.value, user: user.value, group: group.checked, sorted: list.sorted });
    list.element.hidden = group.checked;
    groups.element.hidden = !group.checked;
    const left = store.look.total - store.jobs.length;
    put(number, `${count(rows.length)} ${rows.length === 1 ? "job" : "jobs"}${left > 0 ? `; ${count(left)} more active jobs are not listed here` : ""}`);
    if (group.checked) groups.show(gathered(rows));
    else list.show(rows);
  }
  if (state.value === "ended" || ENDED.includes(state.value)) load();
  return { update, close() { list.close(); groups.close(); }, search };
}

function gathered(rows) {
  const found = new Map();
  for (const job of rows) {
    const id = `${job.user}\n${job.group}`;
    if (!found.has(id)) found.set(id, { id, name: job.group || "(no group)", user: job.user, jobs: 0, waiting: 0, cores: 0, best: null, core_s: 0, sum: 0, judged: 0, reached: null });
    const group = found.get(id);
    group.jobs += 1;
    group.waiting += ["queued", "held", "over-quota", "preempted"].includes(job.state);
    group.cores += job.cores;
    group.core_s += job.core_s;
    if (job.loss !== null && !job.diverged) group.best = group.best === null ? job.loss : Math.min(group.best, job.loss);
    if (job.reached !== null) {
      group.sum += job.reached;
      group.judged += 1;
      group.reached = group.sum / group.judged;
    }
  }
  return [...found.values()];
}
