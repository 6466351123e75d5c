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

// Loads the view soon, once for many changes.
function plan() {
  if (timer) return;
  const pause = Math.max(SHORTEST, cost * 3);
  timer = setTimeout(() => { timer = 0; refresh(); }, Math.max(0, last + pause - performance.now()));
}

export function startLive() {
  if (subjects.size === 0) { state.textContent = ""; state.hidden = true; return; }
  let source;
  let waits = 1000;
  const open = (isFirst) => {
    source = new EventSource(`/p/${document.body.dataset.project}/live`);
    source.addEventListener("ready", () => {
      waits = 1000;
      show("on", "live");
      // What happened while the page was away is in the view.
      if (!isFirst) plan();
      isFirst = false;
    });
    source.addEventListener("changed", (event) => {
      if (event.data.split(" ").some((subject) => subjects.has(subject))) plan();
    });
    source.addEventListener("error", () => {
      show("lost", "connection lost");
      // A refusal ends the stream for good; a lost connection is opened again by the browser.
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(() => open(false), waits);
      waits = Math.min(waits * 2, 10_000);
    });
  };
  open(true);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) plan(); });
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) open(false); });
}
