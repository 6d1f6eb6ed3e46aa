// What can be changed of a job, each change after a question.

import { h, name, say } from "./dom.js";
import { ask } from "./store.js";

const KINDS = {
  hold: { title: "Hold", text: "It keeps its state and gets no cores until it is released.", change: () => ({ held: true }) },
  release: { title: "Release", text: "It takes part in the next decision again.", change: () => ({ held: false }) },
  weight: { title: "Set weight", text: "Jobs of a higher weight get more cores.", change: (value) => ({ weight: value }) },
  stop: { title: "Stop", text: "It ends after its iteration under way and keeps the model it has.", change: () => ({ stop: true }), danger: true },
  cancel: { title: "Cancel", text: "Its driver is asked to end it. The model is lost.", change: () => ({ cancel: true }), danger: true },
};

export function buttons(job, done) {
  const kinds = [job.state === "held" ? "release" : "hold", "weight", ...(job.stoppable === false ? [] : ["stop"]), "cancel"];
  return h("div", { class: "actions", role: "group", "aria-label": "Change this job" }, kinds.map((kind) =>
    h("button", { type: "button", class: KINDS[kind].danger ? "danger" : "", "data-kind": kind, onclick: () => confirm(job, kind, done) }, KINDS[kind].title)));
}

function confirm(job, kind, done) {
  const { title, text, change, danger } = KINDS[kind];
  const input = kind === "weight" ? h("input", { type: "number", min: "0.000001", max: "1000000", step: "any", required: true, value: String(job.own_weight ?? job.weight) }) : null;
  const wrong = h("p", { class: "wrong", role: "alert" });
  const back = document.activeElement;
  const dialog = h("dialog", { "aria-labelledby": "question" },
    h("h2", { id: "question" }, `${title}: `, name(job.name || job.id)),
    h("p", {}, text),
    input && h("label", {}, "Weight ", input),
    wrong,
    h("div", { class: "actions end" },
      h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Keep as it is"),
      h("button", { type: "button", class: danger ? "danger" : "main", "data-confirm": kind, onclick: send }, title)));
  async function send() {
    if (input && !input.reportValidity()) return;
    try {
      await ask("PATCH", `/v1/jobs/${encodeURIComponent(job.id)}`, change(input ? Number(input.value) : undefined));
      dialog.close();
      say(`${title}: done`);
      done();
    } catch (error) {
      wrong.textContent = error.message;
    }
  }
  input?.addEventListener("keydown", (event) => event.key === "Enter" && send());
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (back?.isConnected) back.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}
