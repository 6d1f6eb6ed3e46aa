// What the page knows: the latest look and the samples of the past minutes, kept live by server-sent events.

const FIELDS = ["id", "name", "user", "app", "estimator", "group", "state", "weight", "cores", "iteration", "loss",
  "reached", "diverged", "core_s", "began_at", "stoppable", "own_weight"];
const MOST_SAMPLES = 600;

export const store = { look: null, jobs: [], samples: [], who: null, live: "connecting" };
const listeners = new Set();
let source = null;

export function listen(callback) {
  listeners.add(callback);
  return () => listeners.delete(callback);
}

function tell() {
  for (const callback of listeners) callback();
}

export function job(row) {
  const found = {};
  FIELDS.forEach((field, place) => (found[field] = row[place]));
  return found;
}

function took(message) {
  store.look = message.look;
  store.jobs = message.look.jobs.map(job);
  const last = store.samples.at(-1)?.[0] ?? 0;
  if (message.past) store.samples = message.samples;
  else store.samples.push(...message.samples.filter((sample) => sample[0] > last));
  store.samples.splice(0, Math.max(store.samples.length - MOST_SAMPLES, 0));
}

export function connect(refused) {
  source?.close();
  source = new EventSource("/v1/events");
  source.addEventListener("look", (event) => {
    took(JSON.parse(event.data));
    store.live = "live";
    tell();
  });
  source.addEventListener("error", async () => {
    // A stream ends now and then and comes again by itself; only a closed one was refused.
    if (source.readyState !== EventSource.CLOSED) {
      setTimeout(() => {
        if (source.readyState === EventSource.CONNECTING) {
          store.live = "away";
          tell();
        }
      }, 3000);
      return;
    }
    const answer = await fetch("/v1/session").catch(() => null);
    if (answer?.status === 401) refused();
    else {
      store.live = "away";
      tell();
      setTimeout(() => connect(refused), 3000);
    }
  });
}

export function disconnect() {
  source?.close();
  Object.assign(store, { look: null, jobs: [], samples: [], who: null, live: "connecting" });
}

export async function ask(method, path, body) {
  const answer = await fetch(path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const content = answer.status === 204 ? null : await answer.json();
  if (!answer.ok) throw Object.assign(new Error(content?.error ?? `status ${answer.status}`), { status: answer.status });
  return content;
}
