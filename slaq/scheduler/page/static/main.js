// The frame: which view is shown, who looks, dark or light, and what is wrong.

import { h, put } from "./dom.js";
import { history } from "./history.js";
import { job } from "./job.js";
import { jobs } from "./jobs.js";
import { login } from "./login.js";
import { overview } from "./overview.js";
import { ask, connect, disconnect, listen, store } from "./store.js";
import { users } from "./users.js";

const main = document.getElementById("main");
const VIEWS = { "": overview, jobs, job, users, history };
let view = null;

function show() {
  if (!store.who) return;
  const [kind, id] = location.hash.replace(/^#\/?/, "").split("/");
  view?.close();
  view = (VIEWS[kind] ?? overview)(main, decoded(id ?? ""));
  const own = { "": "overview", job: "jobs" }[kind] ?? kind;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === own) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${own[0].toUpperCase()}${own.slice(1)} · SLAQ`;
  view.update();
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refused() {
  view?.close();
  view = null;
  disconnect();
  frame();
  login(main, begin);
}

function begin() {
  show();
  connect(refused);
  frame();
}

function frame() {
  const live = document.getElementById("live");
  put(live, store.who ? { live: "live", away: "scheduler away", connecting: "connecting" }[store.live] : "");
  live.dataset.live = store.live;
  put(document.getElementById("who"), store.who?.user ?? "");
  document.getElementById("logout").hidden = !store.who?.tokens;
  const problems = store.look?.status.problems ?? [];
  const place = document.getElementById("problems");
  if (place.dataset.key !== problems.join("\n")) {
    place.dataset.key = problems.join("\n");
    place.replaceChildren(...problems.map((sentence) => h("p", {}, sentence)));
  }
}

function theme(chosen) {
  document.documentElement.dataset.theme = chosen;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
theme(localStorage.getItem("slaq-theme") ?? (dark.matches ? "dark" : "light"));
dark.addEventListener("change", () => {
  if (!localStorage.getItem("slaq-theme")) theme(dark.matches ? "dark" : "light");
  view?.update();
});
document.getElementById("theme").addEventListener("click", () => {
  const chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("slaq-theme", chosen);
  theme(chosen);
  view?.update();
});
document.getElementById("logout").addEventListener("click", async () => {
  await ask("DELETE", "/v1/session").catch(() => null);
  refused();
});
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog")) return;
  if (event.key === "/") {
    event.preventDefault();
    if (!view?.search) location.hash = "#/jobs";
    setTimeout(() => view?.search?.focus());
  }
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", () => {
  show();
  main.focus({ preventScroll: true });
});
listen(() => {
  view?.update();
  frame();
});

try {
  store.who = await ask("GET", "/v1/session");
  begin();
} catch (error) {
  if (error.status === 401) refused();
  else main.replaceChildren(h("p", { class: "card" }, `The scheduler does not answer: ${error.message}`));
}
