// The login: the token is posted once and traded for a cookie that scripts cannot read.

import { h } from "./dom.js";
import { ask, store } from "./store.js";

export function login(main, done) {
  const input = h("input", { id: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: false });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const form = h("form", { class: "card login" },
    h("h1", {}, "Log in"),
    h("p", { class: "muted" }, "This scheduler asks for a token, the same that drivers and commands send. It is in the file that ",
      h("code", {}, "token_file"), " names."),
    h("label", { for: "token" }, "Token"), input, wrong,
    h("button", { type: "submit", class: "main" }, "Log in"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      store.who = await ask("POST", "/v1/session", { token: input.value });
      input.value = "";
      done();
    } catch (error) {
      wrong.textContent = error.message;
      input.select();
    }
  });
  main.replaceChildren(form);
  input.focus();
}
