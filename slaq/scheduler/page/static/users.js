// Users: what they hold, and what the configuration gives them.

import { h } from "./dom.js";
import { coreTime, cores, count, percent } from "./format.js";
import { store } from "./store.js";
import { Table } from "./table.js";

const COLUMNS = [
  { key: "user", title: "User", cell: (row) => row.user, own: true },
  { key: "jobs", title: "Jobs", cell: (row) => count(row.jobs), sort: (row) => row.jobs, number: true },
  { key: "waiting", title: "Waiting", cell: (row) => count(row.waiting), sort: (row) => row.waiting, number: true },
  { key: "cores", title: "Cores", cell: (row) => cores(row.cores), sort: (row) => row.cores, number: true },
  { key: "share", title: "Share", cell: (row) => percent(row.cores / Math.max(store.look.status.capacity.cores, 1)), sort: (row) => row.cores, number: true },
  { key: "weight", title: "Weight", cell: (row) => String(row.weight), sort: (row) => row.weight, number: true },
  { key: "reserved", title: "Reserved", cell: (row) => cores(row.reserved_cores), sort: (row) => row.reserved_cores, number: true, wide: true },
  { key: "most", title: "At most", cell: (row) => (row.max_cores === null ? "no limit" : cores(row.max_cores)), sort: (row) => row.max_cores, number: true, wide: true },
  { key: "core_s", title: "Cost of active jobs", cell: (row) => coreTime(row.core_s), sort: (row) => row.core_s, number: true, wide: true },
];

export function users(main) {
  const table = new Table("Users with active jobs", COLUMNS, "-cores");
  main.replaceChildren(h("h1", {}, "Users"), h("p", { class: "muted small" }, "Users with active jobs"), table.element);
  table.changed = update;
  function update() {
    if (store.look) table.show(store.look.users.map((user) => ({ ...user, id: user.user })));
  }
  return { update, close: () => table.close() };
}
