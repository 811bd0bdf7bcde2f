// The console's only script. Everything works without it; with it, pages stay fresh, clocks go on,
// ids can be copied, and keys move about. No key decides anything, nothing is stored, nothing is
// sent but what a form would send by itself.
import { Idiomorph } from "./idiomorph.js";

const VISIBLE_MS = 5_000;
const HIDDEN_MS = 60_000;
const GIVE_UP_MS = 10_000;
const OLD_MS = 20_000; // without news for so long, the page says that it is old

const one = (selector) => document.querySelector(selector);
const every = (selector) => [...document.querySelectorAll(selector)];
const policy = window.trustedTypes
  ? window.trustedTypes.createPolicy("outlive", { createHTML: (page) => page })
  : { createHTML: (page) => page };

// ── Clocks: `data-clock="in %s|%s ago"`. Lengths as the server writes them. ─────────────────────

function span(seconds) {
  const whole = Math.floor(Math.abs(seconds));
  const two = (number) => String(number).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  if (whole < 60) return `${whole} s`;
  if (whole < 600) return `${minutes} min ${two(whole % 60)} s`;
  if (whole < 3600) return `${minutes} min`;
  const hours = Math.floor(whole / 3600);
  if (hours < 72) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

// The server's clock counts, not this machine's.
let skewMs = 0;
const now = () => Date.now() + skewMs;

function say(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

function tick() {
  for (const clock of every("[data-clock]")) {
    const seconds = (Date.parse(clock.dateTime) - now()) / 1000;
    const [ahead, behind] = clock.dataset.clock.split("|");
    say(clock, (seconds >= 0 ? ahead : behind).replace("%s", span(seconds)));
  }
  const state = one("[data-state]");
  if (!state) return;
  const age = Date.now() - readAt;
  const old = !paused && age > OLD_MS && document.visibilityState === "visible";
  const told = paused ? state.dataset.paused : old ? state.dataset.old : state.dataset.read;
  say(state.querySelector("[data-told]"), told.replace("%s", span(age / 1000)));
  state.classList.toggle("off", old || paused);
  const stale = one("[data-stale]");
  if (stale) stale.hidden = !old;
}

// ── Live regions: `[data-live]` with an id, asked for again with what we have. ──────────────────

let readAt = Date.now();
let tag = null;
let paused = false;
let next = null;

async function look() {
  const answer = await fetch(location.href, {
    cache: "no-store",
    headers: { "X-Live": "1", ...(tag ? { "If-None-Match": tag } : {}) },
    signal: AbortSignal.timeout(GIVE_UP_MS),
    redirect: "error",
  });
  if (answer.status === 401) return location.reload(); // the session ended: sign in, come back
  if (answer.status !== 304 && !answer.ok) return;
  skewMs = Date.parse(answer.headers.get("Date")) - Date.now();
  if (answer.status !== 304) {
    const page = new DOMParser().parseFromString(
      policy.createHTML(await answer.text()), "text/html");
    if (paused) return;
    for (const region of every("[data-live][id]")) {
      const fresh = page.getElementById(region.id);
      if (fresh) Idiomorph.morph(region, fresh, { ignoreActiveValue: true, callbacks: {
        // What somebody opened stays open, and what they typed stays typed. A form tells what its
        // row shows now; its act stays the same, so that it still counts once.
        beforeAttributeUpdated: (name, { type, name: field }) =>
          name !== "open" && (name !== "value" || (type === "hidden" && field !== "act")),
      } });
    }
    // A page that is answered does not change under the thumb: it says that it has changed.
    for (const read of every("[data-changed][id]")) {
      const fresh = page.getElementById(read.id);
      read.hidden = fresh?.dataset.changed === read.dataset.changed;
    }
    document.title = page.title;
    tag = answer.headers.get("ETag");
    enhance();
  }
  readAt = Date.now();
}

function plan() {
  clearTimeout(next);
  if (paused || !one("[data-live]")) return;
  next = setTimeout(async () => {
    try { await look(); } catch { /* said by its age */ }
    tick();
    plan();
  }, document.visibilityState === "visible" ? VISIBLE_MS : HIDDEN_MS);
}

function pause() {
  const button = one("[data-pause]");
  if (!button) return;
  paused = !paused;
  button.textContent = paused ? button.dataset.off : button.dataset.on;
  tick();
  plan();
}

// ── Copying, locks, keys. ───────────────────────────────────────────────────────────────────────

function enhance() {
  for (const button of every("[data-copy][hidden], [data-pause][hidden]")) button.hidden = false;
}

async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy);
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), 1_500);
}

function lock() {
  const bar = one("[data-offline]");
  if (bar) bar.hidden = navigator.onLine;
  for (const button of every("form[method=post] button")) {
    if (navigator.onLine) button.removeAttribute("aria-disabled");
    else button.setAttribute("aria-disabled", "true");
  }
}

function row(step) {
  const rows = every("[data-row]").map((each) => each.querySelector("a[href]")).filter(Boolean);
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
}

const KEYS = {
  j: () => row(1),
  k: () => row(-1),
  "/": () => one("[data-search]")?.focus(),
  c: () => one("[data-claim]")?.focus(), // to the button; pressing it is one's own act
  y: () => { const button = one("[data-copy]"); if (button) copy(button); },
  ".": pause,
  "?": () => one("#keys")?.showModal(),
};
let going = 0;

function key(event) {
  const typing = event.target.closest("input, textarea, select, [contenteditable], dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.documentElement.dataset.keys === "off") return;
  const went = Date.now() - going < 1_500 && one(`[data-go="${CSS.escape(event.key)}"]`);
  going = event.key === "g" ? Date.now() : 0;
  if (!went && !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  if (went) location.assign(went.href);
  else KEYS[event.key]();
}

document.addEventListener("keydown", key);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-pause]");
  if (button?.matches("[data-copy]")) copy(button);
  else if (button) pause();
});
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  // A courtesy: the server counts a form once however often it comes.
  if (!navigator.onLine || form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "1";
  setTimeout(() => delete form.dataset.sent, 4_000);
});
document.addEventListener("visibilitychange", () => { tick(); plan(); });
addEventListener("online", lock);
addEventListener("offline", lock);
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

enhance();
lock();
setInterval(tick, 1_000);
plan();
