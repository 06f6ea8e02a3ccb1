// Keys for rating, and marks that are sent as they are given. The form works without this script.
"use strict";
(() => {
  const card = document.getElementById("card");
  const undo = document.getElementById("undo");
  const status = document.getElementById("status");
  const fields = card ? [...card.querySelectorAll(".field")] : [];
  const keysOn = document.getElementById("keys-on");
  let current = 0;

  // --- marks that wait to be sent; they survive a reload, and their ids make a repetition harmless

  const queueName = card ? `markscheme-${card.dataset.queue}` : "";
  const readQueue = () => JSON.parse(localStorage.getItem(queueName) || "[]");
  const writeQueue = (marks) => localStorage.setItem(queueName, JSON.stringify(marks));
  let sending = null;

  const say = (text) => { if (status) status.textContent = text; };

  async function sendAll() {
    for (let marks = readQueue(); marks.length; marks = readQueue()) {
      say(card.dataset.saving);
      const response = await fetch(card.dataset.marks, {
        method: "POST", body: new URLSearchParams(marks[0]), keepalive: true,
      });
      if (response.status === 401 || response.status === 403) {
        say(card.dataset.ended);
        return;
      }
      const isRefused = [400, 404, 409, 413].includes(response.status);
      if (!response.ok && !isRefused) throw new Error("try again");
      writeQueue(readQueue().filter((mark) => mark.id !== marks[0].id));
      if (isRefused) {
        // Somebody else has the query, or the study is closed: the page says which.
        const isLost = response.status === 409;
        location.replace(location.pathname + (isLost ? "?state=lost" : ""));
        return;
      }
      say(card.dataset.saved);
    }
  }

  function send() {
    sending ??= sendAll()
      .catch(() => { say(card.dataset.waiting); setTimeout(send, 3000); })
      .finally(() => { sending = null; });
    return sending;
  }

  function makeId() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  function addMark(field) {
    const chosen = field.querySelector("input:checked");
    const note = field.querySelector("textarea").value.trim();
    const score = chosen ? chosen.value : "";
    const { place, axis, criterion } = field.dataset;
    if (!score && !note && !field.dataset.said) return;
    // A note on a question without a score goes with the score.
    if (!score && field.querySelector("input")) return;
    field.dataset.said = "yes";
    writeQueue([...readQueue(), { id: makeId(), place, axis, criterion, score, note }]);
    if (undo) undo.hidden = false;
    send();
  }

  async function submit(action) {
    await Promise.race([send(), new Promise((done) => setTimeout(done, 2000))]);
    const button = card.querySelector(`button[value=${action}]`);
    card.requestSubmit(button);
  }

  // --- the current question

  function show(at, scrolls = true) {
    if (!fields.length) return;
    current = Math.max(0, Math.min(at, fields.length - 1));
    fields.forEach((field, number) => field.classList.toggle("current", number === current));
    const field = fields[current];
    const isNote = !field.querySelector("input");
    (isNote ? field.querySelector("textarea") : field).focus({ preventScroll: true });
    if (scrolls) field.scrollIntoView({ block: "nearest" });
  }

  function isOpen(field) {
    return field.querySelector("input") && !field.querySelector("input:checked");
  }

  function choose(key) {
    const option = fields[current]?.querySelector(`input[data-key="${CSS.escape(key)}"]`);
    if (!option) return false;
    option.checked = true;
    addMark(fields[current]);
    show(current + 1);
    return true;
  }

  function writeNote() {
    const field = fields[current];
    if (!field) return;
    const details = field.querySelector("details");
    if (details) details.open = true;
    field.querySelector("textarea").focus();
  }

  function follow(relation) {
    const link = document.querySelector(`a[rel=${relation}]`);
    if (link) location.assign(link.href);
  }

  async function takeBack() {
    if (card) await Promise.race([send(), new Promise((done) => setTimeout(done, 2000))]);
    undo?.requestSubmit();
  }

  // --- keys

  const actions = {
    arrowup: () => show(current - 1),
    k: () => show(current - 1),
    arrowdown: () => show(current + 1),
    j: () => show(current + 1),
    n: writeNote,
    z: takeBack,
    s: () => card && submit("skip"),
    "[": () => follow("prev"),
    "]": () => follow("next"),
    "?": () => {
      const help = document.getElementById("help");
      help.open = !help.open;
      if (help.open) help.scrollIntoView({ block: "nearest" });
    },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const { target, key } = event;
    const isText = target.matches("textarea, input:not([type=radio]):not([type=checkbox])");
    if (isText) {
      if (key === "Escape") show(current);
      // Enter in a note goes on; Shift with Enter begins a new line.
      if (key === "Escape" || (key === "Enter" && !event.shiftKey)) event.preventDefault();
      if (key === "Escape") target.blur();
      if (key === "Enter" && !event.shiftKey) leaveNote(target);
      return;
    }
    if (key === "Enter" && card && !target.matches("a, button, summary")) {
      event.preventDefault();
      submit("save");
      return;
    }
    const isRadio = target.matches("input[type=radio]");
    if (!keysOn?.checked || (isRadio && key.startsWith("Arrow"))) return;
    const action = actions[key.toLowerCase()];
    if (action) action();
    else if (!choose(key)) return;
    event.preventDefault();
  });

  // A note about one question returns to the questions; the note that ends a card goes on.
  function leaveNote(area) {
    const field = area.closest(".field");
    if (!field) return;
    if (field.querySelector("input") && fields.some(isOpen)) {
      show(isOpen(field) ? fields.indexOf(field) : fields.findIndex(isOpen));
    } else {
      area.blur();
      submit("save");
    }
  }

  for (const [at, field] of fields.entries()) {
    if (field.querySelector("input:checked") || field.querySelector("textarea").value) {
      field.dataset.said = "yes";
    }
    field.addEventListener("change", () => addMark(field));
    field.addEventListener("focusin", () => {
      current = at;
      fields.forEach((other, number) => other.classList.toggle("current", number === at));
    });
  }

  if (keysOn) {
    keysOn.checked = localStorage.getItem("markscheme-keys") !== "off";
    keysOn.addEventListener("change", () => {
      localStorage.setItem("markscheme-keys", keysOn.checked ? "on" : "off");
    });
  }
  if (card) {
    addEventListener("online", send);
    if (readQueue().length) send();
    const open = fields.findIndex(isOpen);
    // A new card begins with the answer; one that was shown before, with the question.
    show(Number(card.dataset.focus) || Math.max(open, 0), location.search !== "");
  }
})();
