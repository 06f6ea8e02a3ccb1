// Practice and exam papers: accent keys, time to the first key, saving while typing, and a queue of
// answers for when there is no network. Everything works without this script, but for the queue.
"use strict";
(() => {
  const QUEUE = "markscheme-queue", PACK = "markscheme-pack";
  const $ = (selector, root = document) => root.querySelector(selector);
  const read = (key, other) => { try { return JSON.parse(localStorage.getItem(key)) || other; } catch { return other; } };
  const write = (key, value) => { try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* private window */ } };
  // crypto.randomUUID is missing over plain http in a network.
  const makeId = () => [...crypto.getRandomValues(new Uint8Array(12))].map((n) => n.toString(16).padStart(2, "0")).join("");
  const encode = (form, button) => {
    const body = new URLSearchParams(new FormData(form));
    if (button && button.name) body.set(button.name, button.value);
    return body;
  };
  const post = (path, body) => fetch(path, { method: "POST", body, redirect: "manual", headers: { "content-type": "application/x-www-form-urlencoded" } });

  // --- letters with accents ---
  let last = null;
  document.addEventListener("focusin", (event) => { if (event.target.matches("input:not([type=checkbox]),textarea")) last = event.target; });
  for (const keys of document.querySelectorAll(".keys")) {
    keys.hidden = false;
    keys.addEventListener("mousedown", (event) => event.preventDefault());
    keys.addEventListener("click", (event) => {
      const letter = event.target.dataset.insert;
      const field = last || $(".answer input:not([type=hidden])");
      if (!letter || !field) return;
      field.focus();
      field.setRangeText(letter, field.selectionStart, field.selectionEnd, "end");
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }

  // --- practice ---
  const note = $("#offline");
  const tell = (kind, n) => { note.hidden = false; note.textContent = note.dataset[kind].replace("{n}", n); };
  let sending = false;
  const flush = async () => {
    if (sending) return;
    sending = true;
    let sent = 0;
    try {
      for (let queue = read(QUEUE, []); queue.length; queue = read(QUEUE, [])) {
        const answer = await post("/learn/card", queue[0].body);
        // An answer that is refused would be refused for ever; only a fault of the server is tried again.
        if (answer.type !== "opaqueredirect" && (answer.status >= 500 || answer.status === 401)) break;
        write(QUEUE, read(QUEUE, []).filter((one) => one.id !== queue[0].id));
        sent += 1;
      }
    } catch { /* still no network */ }
    sending = false;
    if (note && sent) tell("sent", sent);
  };
  const form = $("form[data-practice]");
  if (note) {
    const waiting = read(QUEUE, []).length;
    if (waiting) tell("kept", waiting);
    flush();
    addEventListener("online", flush);
    setInterval(() => { if (read(QUEUE, []).length) flush(); }, 5000);
  }
  if (form) {
    let shown = performance.now();
    form.addEventListener("keydown", () => { if (!form.first_key_ms.value) form.first_key_ms.value = Math.round(performance.now() - shown); });
    form.addEventListener("input", () => { if (!form.first_key_ms.value) form.first_key_ms.value = Math.round(performance.now() - shown); });
    const deck = form.dataset.practice;
    fetch(`/learn/pack.json?deck=${deck}`).then((answer) => answer.ok && answer.json()).then((pack) => pack && write(PACK, pack)).catch(() => {});
    const keep = (body) => {
      body.set("at", Date.now());
      const queue = read(QUEUE, []);
      queue.push({ id: body.get("id"), body: body.toString() });
      write(QUEUE, queue);
      tell("kept", queue.length);
      const pack = read(PACK, { cards: [] });
      const done = new Set(queue.map((one) => new URLSearchParams(one.body).get("item")));
      const next = pack.deck === deck && pack.cards.find((card) => !done.has(card.item));
      for (const field of form.querySelectorAll("input:not([type=hidden]),textarea")) field.value = "";
      for (const button of form.querySelectorAll("[data-online]")) button.hidden = true;
      form.hint.value = "0";
      form.first_key_ms.value = "";
      form.elements.id.value = makeId();
      shown = performance.now();
      $("#tags").textContent = "";
      $("#why").hidden = true;
      if (next) { form.item.value = next.item; $("#prompt").textContent = next.prompt; } else form.hidden = true;
      const first = $("input:not([type=hidden])", form);
      if (first) first.focus();
    };
    form.addEventListener("submit", async (event) => {
      const button = event.submitter;
      if (button && button.value === "hint") return;
      event.preventDefault();
      const body = encode(form, button);
      for (const one of form.querySelectorAll("button")) one.disabled = true;
      try {
        const answer = await post("/learn/card", body);
        if (answer.type === "opaqueredirect") { location.assign(`/learn/card?deck=${deck}&after=${body.get("id")}`); return; }
        for (const one of form.querySelectorAll("button")) one.disabled = false;
        if (answer.status >= 500) keep(body); else form.submit();
      } catch {
        for (const one of form.querySelectorAll("button")) one.disabled = false;
        keep(body);
      }
    });
  }

  // --- papers ---
  const paper = $("form[data-paper]");
  if (paper) {
    const state = $("#saved"), waiting = new Map();
    const count = () => {
      const all = [...paper.querySelectorAll("fieldset")];
      const done = all.filter((one) => [...one.querySelectorAll("input:not([type=hidden]):not([type=checkbox]),textarea,select")].some((field) => field.value.trim()));
      const text = $("#answered");
      text.textContent = text.dataset.text.replace("{n}", done.length).replace("{all}", all.length);
    };
    const save = async (item) => {
      const set = paper.querySelector(`fieldset[data-item="${CSS.escape(item)}"]`);
      const id = $(`input[name="id-${CSS.escape(item)}"]`, set);
      id.value = makeId();
      const body = new URLSearchParams([["quiet", "1"]]);
      for (const field of set.querySelectorAll("input,textarea,select")) if (field.type !== "checkbox" || field.checked) body.set(field.name, field.value);
      try {
        const answer = await post(paper.action, body);
        if (answer.status === 204) { waiting.delete(item); state.textContent = state.dataset[waiting.size ? "waiting" : "saved"]; } else state.textContent = state.dataset.closed;
      } catch { state.textContent = state.dataset.waiting; waiting.set(item, setTimeout(() => save(item), 3000)); }
    };
    paper.addEventListener("input", (event) => {
      const set = event.target.closest("fieldset");
      if (!set) return;
      const item = set.dataset.item;
      clearTimeout(waiting.get(item));
      waiting.set(item, setTimeout(() => save(item), 400));
      count();
    });
    const clock = $("#countdown");
    if (clock) {
      const tick = () => {
        const left = clock.dataset.ends - Date.now();
        clock.textContent = left > 0 ? clock.dataset.text.replace("{minutes}", Math.ceil(left / 60000)) : clock.dataset.over;
        if (left <= 0) { clearInterval(timer); setTimeout(() => location.reload(), 31000); }
      };
      const timer = setInterval(tick, 1000);
      tick();
    }
  }
})();
