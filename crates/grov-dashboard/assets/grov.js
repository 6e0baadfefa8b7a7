// Live updates and the keyboard. Every page can be read without this file.
"use strict";
(() => {
  // At most this many refreshes a second while much happens; the first one is immediate.
  const PAUSE = 300;
  let source = null;
  let last = 0;
  let waiting = null;

  const live = document.getElementById("live");
  const say = (text, state) => {
    if (!live) return;
    live.hidden = false;
    live.textContent = text;
    live.className = "live " + state;
  };

  // A refresh must not close what is open, move the focus or take a text that is being typed.
  const isTyping = () => {
    const at = document.activeElement;
    return at && (at.matches("textarea, select") || at.matches("input:not([type=hidden])"));
  };
  const refresh = () => {
    waiting = null;
    if (isTyping()) return;
    last = Date.now();
    document.body.dispatchEvent(new CustomEvent("grov:change"));
  };
  const changed = () => {
    if (waiting) return;
    waiting = setTimeout(refresh, Math.max(0, last + PAUSE - Date.now()));
  };

  const concerns = (event) => {
    const page = document.querySelector("[data-session]");
    return !page || page.dataset.session === event.session;
  };

  // Browsers allow six connections to a host, so only a page that is seen keeps one.
  const connect = () => {
    if (source || document.hidden || !document.querySelector("[hx-trigger*='grov:change']")) return;
    source = new EventSource("/_grov/ui/events");
    source.onopen = () => {
      say("live", "on");
      changed();
    };
    source.onmessage = (message) => {
      if (concerns(JSON.parse(message.data))) changed();
    };
    source.onerror = () => {
      say("not connected", "off");
      if (source && source.readyState === EventSource.CLOSED) {
        source = null;
        setTimeout(connect, 5000);
      }
    };
  };
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return connect();
    if (source) source.close();
    source = null;
  });

  // What is open and focused stays so when a part of the page is replaced.
  let kept = { open: [], focus: null };
  document.body.addEventListener("htmx:beforeSwap", () => {
    const open = [...document.querySelectorAll("details[open][id]")].map((one) => one.id);
    const at = document.activeElement;
    const holder = at && at.closest("[id]");
    kept = { open, focus: holder && holder.id, summary: at && at.tagName === "SUMMARY" };
  });
  document.body.addEventListener("htmx:afterSwap", () => {
    for (const id of kept.open) {
      const one = document.getElementById(id);
      if (one) one.open = true;
    }
    const holder = kept.focus && document.getElementById(kept.focus);
    if (!holder || holder.contains(document.activeElement) || holder.id === "main") return;
    const target = kept.summary ? holder.querySelector("summary") : holder;
    if (target) target.focus({ preventScroll: true });
  });

  // Keys: j and k move through a list, enter opens, g and a letter changes the page, / searches, ? explains.
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const move = (step) => {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement);
    const next = all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };
  const act = (name) => {
    const row = document.activeElement && document.activeElement.closest("[data-item]");
    const button = row && row.querySelector(`[data-act="${name}"]`);
    if (button) button.click();
    return Boolean(button);
  };
  let leader = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping()) return;
    if (Date.now() - leader < 1500) {
      const link = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
      leader = 0;
      if (link) {
        event.preventDefault();
        link.click();
      }
      return;
    }
    switch (event.key) {
      case "j": move(1); break;
      case "k": move(-1); break;
      case "g": leader = Date.now(); break;
      case "/": {
        const search = document.querySelector("input[type=search]");
        if (!search) return;
        search.focus();
        break;
      }
      case "?": {
        const help = document.getElementById("keys");
        if (!help) return;
        help.open = !help.open;
        break;
      }
      case "a": case "x": case "w":
        if (!act(event.key)) return;
        break;
      default: return;
    }
    event.preventDefault();
  });
  document.addEventListener("keyup", (event) => {
    if (event.key === "Escape" && isTyping()) document.activeElement.blur();
  });

  // Times are stored in UTC and shown as the reader's clock has them.
  const local = (root) => {
    for (const time of root.querySelectorAll(".line time[datetime]")) {
      const at = new Date(time.dateTime);
      if (!isNaN(at)) time.title = at.toLocaleString();
    }
  };
  local(document);
  document.body.addEventListener("htmx:load", (event) => local(event.target));
  connect();
})();
