// The page works without this file. With it, links change only a part of the page, new mail
// shows by itself, times are local, and keys do something.
"use strict";

const page = document;
/** The path that the mailbox lies under. */
const base = page.body.dataset.base;
const one = (selector, root = page) => root.querySelector(selector);

/** Fetches a page of this mailbox; null when there is none or it is not one. Its URL is that after
 * redirects. */
async function load(url, options) {
  try {
    const answer = await fetch(url, { cache: "no-store", ...options });
    if (!answer.headers.get("content-type")?.startsWith("text/html")) return null;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    return { fresh, url: options && !answer.redirected ? location.href : answer.url };
  } catch {
    return null;
  }
}

/** What decides which lines a list has. */
function placeOf(url) {
  const given = new URL(url, location.href).searchParams;
  return ["q", "start", "by"].map((name) => given.get(name) ?? "").join("\n");
}

/** What each element was as it came, before times were made local. */
const cameAs = new WeakMap();

/** Puts the new element of this id in the place of the old one, if it is another; focus and
 * place stay. */
function swap(id, fresh) {
  const [old, next] = [page.getElementById(id), fresh.getElementById(id)];
  if (!old || !next || cameAs.get(old) === next.outerHTML) return;
  cameAs.set(next, next.outerHTML);
  const focus = old.contains(page.activeElement) ? page.activeElement.getAttribute("href") : null;
  const top = old.scrollTop || listTop;
  const open = one("details.menu[open]", old) !== null;
  localTimes(next);
  old.replaceWith(page.adoptNode(next));
  if (id === "list") {
    next.scrollTop = top;
    const menu = one("details.menu", next);
    if (menu && open) menu.open = true;
  }
  if (focus) one(`a[href="${CSS.escape(focus)}"]`, next)?.focus({ preventScroll: true });
}

let visits = 0;
/** How far the list was scrolled; on a phone it is hidden beside a message, and forgets it. */
let listTop = 0;
page.addEventListener("scroll", (event) => {
  if (event.target.id === "list" && event.target.clientHeight) listTop = event.target.scrollTop;
}, { capture: true, passive: true });

let shownPlace = placeOf(location.href);

/** Goes to a page without loading it anew. */
async function visit(url, remember, options) {
  const turn = ++visits;
  const loaded = await load(url, options);
  if (turn !== visits) return;
  if (!loaded) {
    if (options) location.reload();
    else location.assign(url);
    return;
  }
  const { fresh } = loaded;
  // What was asked for until now is about the page that is left.
  visits += 1;
  if (remember) history.pushState(null, "", loaded.url);
  if (placeOf(loaded.url) !== shownPlace) {
    shownPlace = placeOf(loaded.url);
    listTop = one("#list").scrollTop = 0;
  }
  page.title = fresh.title;
  page.body.className = fresh.body.className;
  swap("list", fresh);
  swap("reader", fresh);
  one("#q").value = one("#q", fresh).value;
  const list = one("#list");
  if (list.clientHeight && !list.scrollTop) list.scrollTop = listTop;
  showCurrent();
}

/** The chosen line and tab are in sight, also on a narrow screen. */
function showCurrent() {
  for (const chosen of page.querySelectorAll(".mails [aria-current], .tabs [aria-current]")) {
    chosen.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

page.addEventListener("click", (event) => {
  const link = event.target.closest?.("#list a, #reader a");
  const plain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button);
  if (!link || !plain || link.hasAttribute("download") || link.target) return;
  const path = link.pathname;
  if (link.origin !== location.origin || !(path === `${base}/` || path.startsWith(`${base}/message/`))) return;
  event.preventDefault();
  visit(link.href, true);
});
page.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  // A button of the name `action` takes the place of the property.
  visit(form.getAttribute("action"), true, { method: "POST", body });
});
addEventListener("popstate", () => visit(location.href, false));

/** The next older (1) or newer (-1) message of the list. */
function step(by) {
  const links = [...page.querySelectorAll(".mails a")];
  const at = links.findIndex((link) => link.getAttribute("aria-current"));
  const link = links[at < 0 ? 0 : at + by];
  if (link) visit(link.href, true);
}

page.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select");
  if (typing && event.key === "Escape") event.target.blur();
  if (typing || event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === "Escape") {
    const menu = one("details.menu[open]");
    if (menu) menu.open = false;
    return;
  }
  const follow = (selector) => {
    const link = one(selector);
    if (link) visit(link.href, true);
  };
  const act = {
    j: () => step(1),
    k: () => step(-1),
    n: () => follow("#list [rel=next]"),
    p: () => follow("#list [rel=prev]"),
    d: () => one("#delete")?.requestSubmit(),
    u: () => one("#undo")?.requestSubmit(),
    "/": () => one("#q").focus(),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
page.addEventListener("click", (event) => {
  const menu = one("details.menu[open]");
  if (menu && !menu.contains(event.target)) menu.open = false;
});

const opened = () => one("#reader article")?.dataset.id ?? "";

/** Brings the list up to date, and the reader when the mailbox was empty or the mail is gone. */
async function refresh() {
  const [turn, id] = [visits, opened()];
  const query = new URLSearchParams(location.search);
  query.set("open", id);
  const loaded = await load(`${base}/list?${query}`);
  if (turn !== visits || !loaded) return;
  swap("list", loaded.fresh);
  if (id) await updateEvents();
  else page.title = one("#list").dataset.title;
  const empty = one("#reader .empty h1") !== null;
  if (turn === visits && empty && one(".mails")) visit(location.href, false);
}

/** Brings the events of the open message up to date. */
async function updateEvents() {
  const [turn, id] = [visits, opened()];
  if (!id) return;
  const answer = await fetch(`${base}/message/${id}/events`, { cache: "no-store" }).catch(() => null);
  if (turn !== visits || !answer) return;
  if (answer.status === 404) {
    // It was deleted, or made room for newer ones.
    visit(one("#reader .back").getAttribute("href"), true);
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (turn !== visits) return;
  swap("status", fresh);
  if (!one("#events details[open]")) swap("events", fresh);
}

/** While the page is visible, it gets changes; a browser has few connections to give. */
const live = one("#live");
let source = null;
let waiting = 0;

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(refresh, 250);
}

function listen() {
  if (page.hidden) {
    source?.close();
    source = null;
    return;
  }
  if (source) return;
  source = new EventSource(`${base}/live`);
  const say = (text, off) => {
    live.hidden = false;
    live.textContent = text;
    live.classList.toggle("off", off);
  };
  source.addEventListener("open", () => {
    say("Live", false);
    soon();
  });
  source.addEventListener("change", soon);
  source.addEventListener("error", () => say("Offline", true));
}

// Events come after the mail, and not from the relay: fetch them while they are visible.
setInterval(() => {
  if (!page.hidden) updateEvents();
}, 3000);

page.addEventListener("visibilitychange", listen);
localTimes(page);
showCurrent();
listen();
