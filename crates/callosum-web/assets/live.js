// Live updates: loads the view again when a subject that it shows has changed.
import { morph } from "./morph.js";

// Shortest time between two loads, in milliseconds. A slow view is loaded less often.
const SHORTEST = 1000;

const subjects = new Set(document.body.dataset.subjects.split(" ").filter(Boolean));
const state = document.getElementById("live");
let timer = 0;
let last = 0;
let cost = 0;
let loading = false;
let again = false;
let stale = false;

function show(name, words) {
  if (state.dataset.state === name) return;
  state.dataset.state = name;
  state.textContent = words;
}

// Loads the view and shows what is new in it.
export async function refresh() {
  if (loading) { again = true; return; }
  loading = true;
  again = false;
  const began = performance.now();
  try {
    const place = new URL(location.href);
    place.searchParams.delete("notice");
    const answer = await fetch(place, { headers: { accept: "text/html" }, cache: "no-store" });
    if (!answer.ok) throw new Error(await answer.text());
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (next.body.dataset.assets !== document.body.dataset.assets) { location.reload(); return; }
    document.body.dataset.token = next.body.dataset.token;
    const [from, to] = [document.getElementById("view"), next.getElementById("view")];
    if (from && to && !document.querySelector(".dragging")) {
      morph(from, to);
      document.dispatchEvent(new Event("view-changed"));
    }
  } catch (error) {
    show("lost", "connection lost");
  } finally {
    last = performance.now();
    cost = last - began;
    loading = false;
    if (again) plan();
  }
}

// Loads the view soon, once for many changes. A hidden page waits until a person looks at it.
function plan() {
  if (document.hidden) { stale = true; return; }
  if (timer) return;
  const pause = Math.max(SHORTEST, cost * 3);
  timer = setTimeout(() => { timer = 0; refresh(); }, Math.max(0, last + pause - performance.now()));
}

// Acts on what the stream brought: `{ kind: "on" | "lost" | "changed", subjects }`.
function hear({ kind, subjects: changed }) {
  if (kind === "changed") {
    if (changed.some((subject) => subjects.has(subject))) plan();
    return;
  }
  const wasLost = state.dataset.state === "lost";
  show(kind, kind === "on" ? "live" : "connection lost");
  // What happened while the connection was lost is in the view.
  if (kind === "on" && wasLost) plan();
}

// Opens the stream, and passes on what it brings.
function listen(project, tell) {
  let waits = 1000;
  const open = () => {
    const source = new EventSource(`/p/${project}/live`);
    source.addEventListener("ready", () => { waits = 1000; tell({ kind: "on" }); });
    source.addEventListener("changed", (event) => tell({ kind: "changed", subjects: event.data.split(" ") }));
    source.addEventListener("error", () => {
      tell({ kind: "lost" });
      // A lost connection is opened again by the browser; after a refusal it gives up.
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(open, waits);
      waits = Math.min(waits * 2, 10_000);
    });
  };
  open();
}

export function startLive() {
  if (subjects.size === 0) { state.textContent = ""; state.hidden = true; return; }
  const project = document.body.dataset.project;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !stale) return;
    stale = false;
    plan();
  });
  if (!navigator.locks || !globalThis.BroadcastChannel) { listen(project, hear); return; }
  // A browser opens six connections to a host, so one tab of a project listens for all of them. When it is closed, the
  // next one takes its place.
  const channel = new BroadcastChannel(`callosum-live-${project}`);
  let present = null;
  channel.addEventListener("message", ({ data }) => {
    if (data.kind !== "hello") hear(data);
    else if (present) channel.postMessage(present);
  });
  channel.postMessage({ kind: "hello" });
  navigator.locks.request(`callosum-live-${project}`, () => {
    listen(project, (news) => {
      if (news.kind !== "changed") present = news;
      channel.postMessage(news);
      hear(news);
    });
    return new Promise(() => {});
  });
}
