"use strict";
// Keeps the page of a live run up to date. What subjects said is only ever put in as text.
(() => {
  const main = document.getElementById("main");
  const source = new EventSource(main.dataset.events);
  const cell = (tag, text, name) => {
    const element = document.createElement(tag);
    element.textContent = text;
    if (name) element.className = name;
    return element;
  };
  const row = ([item, attempt, points, because]) => {
    const found = document.createElement("tr");
    const head = cell("th", item);
    head.scope = "row";
    found.append(head, cell("td", attempt, "n"), cell("td", points, "n"), cell("td", because, "said"));
    return found;
  };
  source.onmessage = (event) => {
    const view = JSON.parse(event.data);
    if (view.finished) {
      source.close();
      location.assign(main.dataset.run);
      return;
    }
    for (const element of document.querySelectorAll("[data-live]")) {
      const text = view[element.dataset.live];
      if (element.textContent !== text) element.textContent = text;
    }
    const bar = document.querySelector("[data-live-bar]");
    bar.max = view.questions;
    bar.value = view.done;
    document.querySelector("[data-live-rows]").replaceChildren(...view.failures.map(row));
    document.title = document.title.replace(/^[^:]*/, view.progress);
  };
})();
