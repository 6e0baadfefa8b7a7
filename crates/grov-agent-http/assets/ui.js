// The service's page. It is a client of the API like any other: the key goes with each request and nowhere else. What the API returns is
// shown by textContent alone, so that no text becomes markup.
"use strict";
(() => {
  const PAGES = [
    ["waiting", "Waiting for a yes"],
    ["memory", "Memory"],
    ["documents", "Documents"],
    ["threads", "Threads"],
    ["project", "Project"],
  ];
  // The roles that may decide.
  const DECIDES = ["approver", "admin"];
  // How often the page looks for what is new while it is seen, in milliseconds.
  const INTERVAL = 3000;
  const MOST = 1000;

  const at = (id) => document.getElementById(id);
  let key = sessionStorage.getItem("grov-key") || "";
  let me = { name: "", role: "reader" };
  let projects = [];
  let page = PAGES[0][0];
  // What is shown, so that a look that finds nothing new changes nothing.
  let drawn = "";

  /// An element with text and children.
  const el = (name, properties, ...children) => {
    const one = document.createElement(name);
    for (const [property, value] of Object.entries(properties || {})) {
      if (property in one) one[property] = value;
      else one.setAttribute(property, value);
    }
    one.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== ""));
    return one;
  };
  // Characters that reorder, hide or control text are shown as escapes.
  const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
  const plain = (value) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    return (text || "").replace(HIDDEN, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
  };
  const bdi = (value) => el("bdi", { textContent: plain(value) });
  const tell = (text) => {
    at("told").textContent = text;
    at("told").hidden = !text;
  };
  const moment = (text) => {
    const time = new Date(text);
    return el("time", { dateTime: text || "", textContent: isNaN(time) ? "" : time.toLocaleString() });
  };

  const api = async (path, method = "GET", body = undefined) => {
    const headers = { "X-AGENT-KEY": key };
    if (body !== undefined) headers["content-type"] = "application/json";
    const answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await answer.text();
    const value = text ? JSON.parse(text) : null;
    if (!answer.ok) throw new Error((value && (value.detail || value.title)) || `status ${answer.status}`);
    return value;
  };
  /// The items of a list, at most a thousand.
  const all = async (path) => {
    const items = [];
    let cursor = null;
    do {
      const joint = path.includes("?") ? "&" : "?";
      const more = cursor ? `&cursor=${encodeURIComponent(cursor)}` : "";
      const part = await api(`${path}${joint}limit=200${more}`);
      items.push(...part.items);
      cursor = part.next_cursor;
    } while (cursor && items.length < MOST);
    return items;
  };

  const card = (kind, title, time, ...rest) =>
    el("li", { className: "card", "data-item": "" },
      el("div", { className: "card-head" },
        el("span", { className: "pill", textContent: plain(kind).replaceAll("_", " ").toLowerCase() }),
        el("strong", { className: "card-title", tabIndex: -1, "data-row": "" }, bdi(title)),
        time ? moment(time) : null),
      ...rest);
  const meta = (...parts) => el("p", { className: "meta" }, parts.filter((part) => part).map((part, place) =>
    [place ? " " : "", el("span", { className: place ? "sep" : "" }, part instanceof Node ? part : bdi(part))]));
  const list = (items, empty) =>
    items.length
      ? [el("ul", { className: "plain" }, ...items), items.length >= MOST ? meta(`Only the first ${MOST} are shown.`) : null]
      : el("p", { textContent: empty });
  const evidence = (item) =>
    (item.evidence || []).map((one) => el("blockquote", {}, bdi(one.quote || one.id), " ", el("small", { textContent: plain(one.quote ? `${one.kind} ${one.id}` : one.kind).replaceAll("_", " ") })));

  /// Buttons that decide an item, then show the page again.
  const decide = (path) => {
    if (!DECIDES.includes(me.role)) return meta("Deciding needs a key with the role approver or admin.");
    const button = (decision, text, style, name) => {
      const one = el("button", { type: "button", textContent: text, className: style, "data-act": name });
      one.addEventListener("click", async () => {
        one.disabled = true;
        try {
          await api(`${path}/${decision}`, "POST", {});
          await show(true);
          focusFirst();
        } catch (error) {
          one.disabled = false;
          tell(`Nothing was decided: ${error.message}`);
        }
      });
      return one;
    };
    return el("div", { className: "actions" }, button("approve", "Approve", "main", "a"), button("reject", "Reject", "", "x"));
  };

  const call = (one) =>
    card(`risk ${one.risk}`, one.name, one.created_at,
      one.reason ? el("p", {}, bdi(one.reason)) : null,
      el("pre", {}, bdi(one.arguments)),
      meta(one.status.replaceAll("_", " "), el("span", {}, "expires ", moment(one.expires_at)), one.decided_by && `decided by ${one.decided_by}`),
      one.status === "awaiting_approval" ? decide(`/tool_calls/${encodeURIComponent(one.id)}`) : null);

  /// What each page reads, and how it is drawn.
  const views = {
    waiting: {
      read: async (project) => ({
        calls: await all(`/tool_calls?project_id=${project}&status=awaiting_approval`),
        items: await all(`/projects/${project}/memory?status=proposed`),
      }),
      draw: ({ calls, items }, project) => {
        // A proposal that a chat made is a tool call, too; it is decided once, as the item.
        const proposed = new Set(items.map((item) => item.id));
        const others = calls.filter((one) => !proposed.has(one.memory_item_id));
        return [
          el("h2", { textContent: `Tool calls: ${others.length}` }),
          list(others.map(call), "No tool call waits."),
          el("h2", { textContent: `Proposed memory: ${items.length}` }),
          list(items.map((item) => card(item.type, item.content, item.created_at, evidence(item),
            (item.contradicts || []).length ? el("p", { className: "told bad", textContent: `It contradicts ${item.contradicts.length} accepted item(s).` }) : null,
            decide(`/projects/${project}/memory/${encodeURIComponent(item.id)}`))), "No proposal waits."),
        ];
      },
    },
    memory: {
      read: (project) => all(`/projects/${project}/memory`),
      draw: (items) => list(items.map((item) => card(item.type, item.content, item.updated_at,
        meta(item.status, item.decided_by && `decided by ${item.decided_by}`, item.reason), evidence(item))), "Nothing is remembered yet."),
    },
    documents: {
      read: (project) => all(`/projects/${project}/docs`),
      draw: (documents) => list(documents.map((one) => card(one.category, one.title, one.updated_at,
        meta(`version ${one.version}`, `${one.chunks} chunks`, `${one.bytes} bytes`, one.status))), "There are no documents."),
    },
    threads: {
      read: (project) => all(`/threads?project_id=${project}`),
      draw: (threads) => list(threads.map((thread) => card(`${thread.messages} messages`, thread.title || thread.id, thread.updated_at, messages(thread))), "There are no threads."),
    },
    project: {
      read: async (project) => ({ calls: await all(`/tool_calls?project_id=${project}`) }),
      draw: ({ calls }, project) => {
        const one = projects.find((known) => encodeURIComponent(known.id) === project);
        return [
          el("pre", {}, bdi(one ? one.role_statement : "")),
          meta(one && one.id, one && el("span", {}, "since ", moment(one.created_at))),
          el("h2", { textContent: "Tool calls" }),
          list(calls.map(call), "No tool was called yet."),
        ];
      },
    },
  };

  /// The messages of a thread, which are read when they are opened.
  const messages = (thread) => {
    const details = el("details", { id: `t-${thread.id}` }, el("summary", { textContent: "Messages" }));
    let isRead = false;
    details.addEventListener("toggle", async () => {
      if (!details.open || isRead) return;
      isRead = true;
      const found = await all(`/threads/${encodeURIComponent(thread.id)}/messages`).catch((error) => [{ role: "error", content: error.message }]);
      details.append(...found.map((one) => el("div", {}, el("h3", { textContent: plain(one.role) }), el("pre", {}, bdi(one.content ?? one)))));
    });
    return details;
  };

  /// Reads the page again and draws it, if anything is new.
  const show = async (always) => {
    const [shown, project] = [page, encodeURIComponent(at("project").value)];
    if (!project) {
      at("title").textContent = "No project";
      return at("content").replaceChildren(el("p", { textContent: "This key sees no project." }));
    }
    try {
      const found = await views[shown].read(project);
      // Another page was chosen meanwhile.
      if (shown !== page || project !== encodeURIComponent(at("project").value)) return;
      const state = JSON.stringify([shown, project, found]);
      if (!always && state === drawn) return;
      drawn = state;
      at("title").textContent = PAGES.find(([name]) => name === shown)[1];
      at("content").replaceChildren(...[views[shown].draw(found, project)].flat(2).filter(Boolean));
      tell("");
    } catch (error) {
      tell(error.message);
    }
    for (const link of at("pages").children) {
      if (link.dataset.page === page) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  };

  const enter = async () => {
    try {
      me = await api("/key");
      projects = await all("/projects");
      sessionStorage.setItem("grov-key", key);
      at("project").replaceChildren(...projects.map((one) => el("option", { value: one.id, textContent: plain(one.name) })));
      at("who").textContent = `key ${plain(me.name)}, role ${me.role}`;
      at("enter").hidden = true;
      for (const id of ["choice", "pages", "who", "keys"]) at(id).hidden = false;
      await show(true);
    } catch (error) {
      sessionStorage.removeItem("grov-key");
      tell(`Not signed in: ${error.message}`);
    }
  };
  const wanted = () => {
    const name = location.hash.slice(1);
    if (PAGES.some(([known]) => known === name)) page = name;
  };

  at("pages").append(...PAGES.map(([name, text]) => {
    const link = el("a", { href: `#${name}`, textContent: text });
    link.dataset.page = name;
    return link;
  }));
  addEventListener("hashchange", () => {
    wanted();
    if (key) show(true);
  });
  at("project").addEventListener("change", () => show(true));
  at("leave").addEventListener("click", () => {
    sessionStorage.removeItem("grov-key");
    location.reload();
  });
  at("enter").addEventListener("submit", (event) => {
    event.preventDefault();
    key = at("key").value.trim();
    at("key").value = "";
    enter();
  });
  // A look must not close what is read, or take away the button that is about to be pressed.
  const isInUse = () => at("content").contains(document.activeElement) || at("content").querySelector("details[open]") !== null;
  setInterval(() => {
    if (key && at("enter").hidden && !document.hidden && !isInUse()) show(false);
  }, INTERVAL);

  // Keys: j and k move through a list, numbers change the page, a and x decide, ? explains.
  const rows = () => [...at("content").querySelectorAll("[data-row]")];
  const focusFirst = () => {
    const first = rows()[0];
    if (first) first.focus();
  };
  document.addEventListener("keydown", (event) => {
    const active = document.activeElement;
    if (event.ctrlKey || event.metaKey || event.altKey || active.matches("input, select, textarea")) return;
    const here = active.closest("[data-item]");
    const button = here && here.querySelector(`[data-act="${CSS.escape(event.key)}"]`);
    if (event.key === "j" || event.key === "k") {
      const known = rows();
      const place = known.indexOf(here && here.querySelector("[data-row]"));
      const next = known[Math.min(known.length - 1, Math.max(0, place < 0 ? 0 : place + (event.key === "j" ? 1 : -1)))];
      if (!next) return;
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    } else if (event.key === "?") {
      at("keys").open = !at("keys").open;
    } else if (/^[1-9]$/.test(event.key) && PAGES[event.key - 1]) {
      location.hash = PAGES[event.key - 1][0];
    } else if (button) {
      button.click();
    } else {
      return;
    }
    event.preventDefault();
  });

  wanted();
  if (key) enter();
})();
