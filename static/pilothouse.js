// What a page does beyond links and forms: tell whether it is live, keep relative times fresh,
// open forms in a dialog, and a few keys. Every page works without this file.
"use strict";

(() => {
  const EVERY = 3000; // milliseconds between two refreshes of relative times, as often as a card asks

  // A live update must not take away what a person is typing.
  Idiomorph.defaults.ignoreActiveValue = true;
  // Nor close an output that somebody has opened, or open it again.
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, element) =>
    !(name === "open" && element instanceof HTMLDetailsElement);

  // ---- Relative times ---------------------------------------------------------------------

  const words = (seconds) => {
    if (seconds < 60) return `${seconds} s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) return minutes < 10 && seconds % 60 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
    const hours = Math.floor(minutes / 60);
    if (hours < 24) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
    const days = Math.floor(hours / 24);
    return days === 1 ? "1 day" : `${days} days`;
  };

  const ago = (seconds) => {
    if (seconds < 60) return `${seconds} s ago`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
    return `${words(seconds)} ago`;
  };

  const exact = new Intl.DateTimeFormat(undefined, {
    weekday: "short", day: "numeric", month: "short", year: "numeric",
    hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
  });
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

  // The server's clock counts, not the reader's: the page carries the server's time when it was made.
  const rendered = document.querySelector("meta[name=server-time]");
  const ahead = rendered ? Date.parse(rendered.content) - Date.now() : 0;
  const secondsSince = (moment) => Math.max(0, Math.floor((Date.now() + ahead - Date.parse(moment)) / 1000));

  const refreshTimes = () => {
    for (const time of document.querySelectorAll("time[datetime]")) {
      time.title = exact.format(new Date(time.dateTime));
      if (time.dataset.show === "ago") time.textContent = ago(secondsSince(time.dateTime));
      if (time.dataset.show === "spent") time.textContent = words(secondsSince(time.dateTime));
    }
    for (const bar of document.querySelectorAll("progress[data-since]")) {
      bar.value = Math.min(bar.max, secondsSince(bar.dataset.since));
    }
  };

  // ---- Live or not ------------------------------------------------------------------------

  const live = document.getElementById("live");
  const notLive = document.getElementById("not-live");
  let lostSince = null;

  const say = (text, state) => {
    live.textContent = text;
    live.classList.toggle("live-on", state === "on");
    live.classList.toggle("live-off", state === "off");
  };

  const period = () => {
    const asking = [...document.querySelectorAll("[data-every]")].map((part) => Number(part.dataset.every));
    return asking.length ? Math.min(...asking) : null;
  };

  const showLive = () => {
    if (!live) return;
    if (lostSince) return say(`Not live since ${clock.format(lostSince)}`, "off");
    const every = period();
    live.hidden = every === null;
    if (every !== null) say(`Updates every ${every} s`, "on");
  };

  const found = () => {
    lostSince = null;
    if (notLive) notLive.hidden = true;
    showLive();
  };

  const lost = (reason) => {
    lostSince ??= new Date();
    notLive.hidden = false;
    notLive.querySelector("[data-since]").textContent = clock.format(lostSince);
    notLive.querySelector("[data-reason]").textContent = reason;
    showLive();
  };

  const isPoll = (event) => Boolean(event.detail.elt?.dataset?.every);

  document.addEventListener("htmx:sendError", (event) => { if (isPoll(event)) lost("The server does not answer."); });
  document.addEventListener("htmx:timeout", (event) => { if (isPoll(event)) lost("The server does not answer."); });
  document.addEventListener("htmx:responseError", (event) => {
    if (isPoll(event)) lost(`The server answers with an error (${event.detail.xhr.status}).`);
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (isPoll(event) && event.detail.successful) found();
  });

  // A page that nobody sees asks nothing, and asks at once when it is seen again.
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (isPoll(event) && document.hidden) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) document.querySelectorAll("[data-every]").forEach((part) => htmx.trigger(part, "refresh"));
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    refreshTimes();
    showLive();
    const part = document.getElementById(event.detail.target.id);
    if (part?.dataset.every) part.classList.add("changed");
  });
  document.addEventListener("animationend", (event) => event.target.classList.remove("changed"));

  // ---- Dialogs ----------------------------------------------------------------------------

  const dialog = document.getElementById("dialog");

  document.addEventListener("htmx:afterSwap", (event) => {
    if (!dialog || !dialog.contains(event.target)) return;
    if (!dialog.open) dialog.showModal();
    dialog.querySelector("[aria-invalid=true]")?.focus();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("dialog [data-close]")) return;
    event.preventDefault();
    event.target.closest("dialog").close();
  });

  // ---- Keys -------------------------------------------------------------------------------

  const help = document.getElementById("keys");
  let before = "";

  const isTyping = (target) => target.matches("input, textarea, select, [contenteditable]");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const keys = before === "g" ? `g ${event.key}` : event.key;
    before = event.key;
    if (keys === "?" && help) return help.showModal();
    const target = document.querySelector(`[data-key="${CSS.escape(keys)}"]`);
    if (!target) return;
    event.preventDefault();
    before = "";
    if (target.matches("a")) target.click();
    else target.focus();
  });

  refreshTimes();
  showLive();
  setInterval(refreshTimes, EVERY);
})();
