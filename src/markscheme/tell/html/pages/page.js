"use strict";
// The one script of a report. Its state is the part of the address after "#"; what models said is
// only ever put into the page as text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const words = data.words;
  const by = (id) => document.getElementById(id);
  const list = by("list");
  const controls = [...document.querySelectorAll("[name]:is(select,input)")];
  const SVG = "http://www.w3.org/2000/svg";

  const make = (tag, text, name) => {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    if (name) element.className = name;
    return element;
  };
  const say = (text, values) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const state = () => new URLSearchParams(location.hash.slice(1));
  const isState = () => location.hash.includes("=");

  // --- one of several figures -----------------------------------------------------------------
  const choice = by("heat-choice");
  const variants = [...document.querySelectorAll("#heat .variant")];
  const choose = () => variants.forEach((one, at) => { one.hidden = choice && at !== +choice.value; });

  // --- the list of items ----------------------------------------------------------------------
  const items = data.items || [];
  const rows = list ? [...list.children] : [];
  const place = new Map(items.map((item, at) => [item.i, at]));
  const tagAt = new Map((data.tags || []).map(([tag], at) => [tag, at]));
  const axisAt = new Map((data.axes || []).map(([axis], at) => [axis, at]));
  const valueOf = (item, tag) => {
    const at = tagAt.get(tag);
    const value = at === undefined ? -1 : item.t[at];
    return value < 0 ? null : data.tags[at][1][value];
  };
  const titleOf = (item, tag) => {
    const at = tagAt.get(tag);
    return item.t[at] < 0 ? words.untagged : data.tags[at][3][item.t[at]];
  };
  const spoken = ([, reason, near, criteria = []]) =>
    [reason, near, ...criteria.flatMap(([, ...texts]) => texts)].map((at) => data.texts[at] ?? "");
  const said = (item) => {
    const cells = item.a.flatMap((answer) => answer.c.flatMap((cell) => spoken(cell)));
    const texts = item.a.flatMap((answer) => [answer.g, answer.o || ""]);
    return [item.i, item.p, ...texts, ...cells].join("\n").toLowerCase();
  };

  const definition = (terms) => {
    const found = make("dl");
    for (const [term, value] of terms) {
      if (value === undefined || value === null || value === "") continue;
      const dd = make("dd", value instanceof Node ? null : value, "said");
      if (value instanceof Node) dd.append(value);
      found.append(make("dt", term), dd);
    }
    return found;
  };
  const header = (names) => {
    const row = make("tr");
    names.forEach((name, at) => {
      const cell = make("th", name, at === 1 || at === 2 ? "n" : "");
      cell.scope = "col";
      row.append(cell);
    });
    const head = make("thead");
    head.append(row);
    return head;
  };
  // Each criterion: its name and points, the verdict, what it says, and who marked it and why.
  const criteria = (lines) => {
    const found = make("ul", null, "criteria");
    for (const [outcome, ...texts] of lines) {
      const [name, points, says, verdict, ...marks] = texts.map((at) => data.texts[at]);
      const line = make("li", null, outcome);
      if (name) {
        const head = make("p", null, "criterion");
        head.append(make("b", name), " ", make("span", points, "muted"), " ", make("span", verdict, "verdict-word"));
        line.append(head, make("p", says, "said"));
      }
      marks.forEach((mark) => line.append(make("p", mark, "said muted")));
      found.append(line);
    }
    return found;
  };
  const cells = (answer) => {
    const table = make("table");
    const body = make("tbody");
    answer.c.forEach(([value, reason, near, lines], at) => {
      const row = make("tr");
      const axis = make("th", data.axes[at][2]);
      axis.scope = "row";
      const shown = make("td", value === null ? "–" : value, value === "1" ? "n" : "n zero");
      const why = make("td", data.texts[reason], "said");
      if (near !== undefined && near !== null) {
        const miss = make("p");
        miss.append(make("span", words.near, "near"), " " + data.texts[near]);
        why.append(miss);
      }
      row.append(axis, shown, make("td", "× " + data.axes[at][1], "n muted"), why);
      body.append(row);
      if (lines) {
        // A row of their own, because criteria need the whole width of a phone.
        const below = make("tr");
        const all = make("td");
        all.colSpan = 4;
        all.append(criteria(lines));
        below.append(all);
        body.append(below);
      }
    });
    table.append(header([words.axis, words.value, words.weight, words.reason]), body);
    const scroll = make("div", null, "scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", words.reason);
    scroll.append(table);
    return scroll;
  };
  const tagLinks = (item) => {
    const found = make("span");
    data.tags.forEach(([tag, values, title, titles], at) => {
      if (item.t[at] < 0) return;
      const value = values[item.t[at]];
      const link = make("a", title + ": " + titles[item.t[at]]);
      link.href = "#" + new URLSearchParams([["tag." + tag, value]]);
      found.append(link, "  ");
    });
    return found.childNodes.length ? found : null;
  };
  const answered = (answer, several) => {
    const part = make("div", null, "inside-answer");
    const measured = [
      [words.got, answer.g],
      [words.score, answer.v],
      [words.reading, answer.r],
      [words.latency, answer.ms === undefined ? null : answer.ms + " ms"],
      [words.tokens, answer.in === undefined && answer.out === undefined ? null : (answer.in ?? "–") + " / " + (answer.out ?? "–")],
      [words.cost, answer.cost],
    ];
    if (several) part.append(make("h4", say(words.attempt, { n: answer.n ?? 1 })));
    part.append(definition(measured), cells(answer));
    if (answer.o === undefined) {
      part.append(make("p", words.unheld, "muted"));
    } else {
      const raw = make("pre", answer.o);
      raw.tabIndex = 0;
      raw.setAttribute("role", "group");
      raw.setAttribute("aria-label", words.output);
      part.append(make("p", words.output, "muted"), raw);
    }
    return part;
  };
  const fill = (row, item) => {
    if (row.children.length > 1) return;
    const inside = make("div", null, "inside");
    inside.append(definition([
      [words.prompt, item.p],
      ...item.e.map(([key, entries]) => [words.expected + " (" + key + ")", entries.join(", ")]),
      [words.tags, tagLinks(item)],
      [words.before + " → " + words.after, item.c ? item.c.join(" → ") : null],
    ]));
    if (item.s === "missing") inside.append(make("p", words.missing));
    item.a.forEach((answer) => inside.append(answered(answer, item.a.length > 1 || answer.n > 1)));
    if (item.m) inside.append(make("p", say(words.more, { n: item.m }), "muted"));
    row.append(inside);
  };

  const matches = (wanted) => {
    const show = wanted.get("show");
    const axis = wanted.get("axis") ? axisAt.get(wanted.get("axis")) : undefined;
    const text = (wanted.get("q") || "").toLowerCase();
    const tags = [...wanted].filter(([key, value]) => key.startsWith("tag.") && value);
    return (item) =>
      (show !== "lost" || item.v === null || item.v < 1) &&
      (show !== "failed" || item.s !== "passed") &&
      (show !== "changed" || item.c !== undefined) &&
      (axis === undefined || item.l.includes(axis)) &&
      tags.every(([key, value]) => valueOf(item, key.slice(4)) === value) &&
      (!text || said(item).includes(text));
  };
  const ordered = (wanted) => {
    const order = items.map((_, at) => at);
    if (wanted.get("sort") === "score") {
      order.sort((a, b) => (items[a].v ?? -1) - (items[b].v ?? -1) || a - b);
    }
    return order;
  };
  const grouped = (order, tag) => {
    if (!tag || !tagAt.has(tag)) return [[null, order]];
    const groups = new Map();
    for (const at of order) {
      const value = titleOf(items[at], tag);
      groups.has(value) ? groups.get(value).push(at) : groups.set(value, [at]);
    }
    return [...groups].sort((a, b) => (a[0] < b[0] ? -1 : 1));
  };
  const mean = (group) => {
    const known = group.map((at) => items[at].v).filter((value) => value !== null);
    return known.length ? (known.reduce((a, b) => a + b, 0) / known.length).toFixed(3) : "–";
  };
  let arranged = "";
  const arrange = (groups, kept, order) => {
    rows.forEach((row, at) => { if (row.hidden === kept[at]) row.hidden = !kept[at]; });
    const plain = groups.length === 1 && groups[0][0] === null && kept.some(Boolean);
    if (plain && order === arranged) return;
    arranged = plain ? order : null;
    const parts = [];
    for (const [value, group] of groups) {
      const some = group.filter((at) => kept[at]);
      if (value !== null && some.length) {
        const title = make("h3", value);
        title.append(make("span", words.score + " " + mean(some) + " · " + some.length, "muted"));
        parts.push(title);
      }
      parts.push(...group.map((at) => rows[at]));
    }
    if (!kept.some(Boolean)) parts.push(make("h3", words.none));
    list.replaceChildren(...parts);
  };

  // --- the bars -------------------------------------------------------------------------------
  // One path for each axis, in which each item has a rectangle; another order is another path.
  const chart = document.querySelector("#bars .chart svg");
  const paths = chart ? [...chart.querySelectorAll(".bars path")] : [];
  const layer = paths.length ? paths[0].parentNode : null;
  const shapes = paths.map((path) => path.getAttribute("d").slice(1).split("M").map((part) => part.slice(part.indexOf(","))));
  const pitch = items.length ? 1000 / items.length : 0;
  const faint = paths.map((path) => {
    const copy = path.cloneNode();
    copy.setAttribute("d", "");
    copy.setAttribute("class", "off");
    layer.append(copy);
    return copy;
  });
  let standing = items.map((_, at) => at);
  const label = (x, width, text) => {
    const mark = document.createElementNS(SVG, "text");
    const most = Math.floor(width / 7);
    mark.textContent = text.length > most ? text.slice(0, Math.max(0, most - 1)) + "…" : text;
    for (const [name, value] of Object.entries({ class: "group-label", x: x + 2, y: 212 })) mark.setAttribute(name, value);
    return mark;
  };
  const redraw = (groups, kept) => {
    if (!layer) return;
    layer.querySelectorAll(".group-label").forEach((mark) => mark.remove());
    standing = groups.flatMap(([, group]) => group);
    const places = standing.map((_, to) => "M" + +(to * pitch).toFixed(2));
    shapes.forEach((shape, axis) => {
      const on = [];
      const off = [];
      standing.forEach((at, to) => (kept[at] ? on : off).push(places[to] + shape[at]));
      paths[axis].setAttribute("d", on.join(""));
      faint[axis].setAttribute("d", off.join(""));
    });
    let to = 0;
    for (const [value, group] of groups) {
      if (value !== null && group.length * pitch > 20) layer.append(label(to * pitch, group.length * pitch, value));
      to += group.length;
    }
    const longest = Math.max(...items.map((item) => item.i.length));
    if (groups.length === 1 && groups[0][0] === null && longest * 7 < pitch) {
      standing.forEach((at, to) => layer.append(label(to * pitch, pitch, items[at].i)));
    }
  };
  const itemAt = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(layer.getScreenCTM().inverse());
    return point.y >= 0 && point.y <= 196 ? items[standing[Math.floor(point.x / pitch)]] : undefined;
  };
  if (layer) {
    const readout = document.querySelector("#bars .readout");
    chart.addEventListener("pointermove", (event) => {
      const item = itemAt(event);
      readout.textContent = item ? item.i + ": " + (item.v === null ? "–" : +item.v.toFixed(4)) + "  " + item.p : "\u00a0";
    });
    chart.addEventListener("click", (event) => {
      const item = itemAt(event);
      if (item) open(item.i);
    });
  }

  // --- the address and the page ---------------------------------------------------------------
  const opened = () => rows.flatMap((row, at) => (row.open ? [items[at].i] : []));
  const remember = () => {
    const found = new URLSearchParams();
    for (const control of controls) {
      const first = control.tagName === "SELECT" ? control.options[0].value : "";
      if (control.value !== first) found.set(control.name, control.value);
    }
    opened().slice(0, 20).forEach((id) => found.append("open", id));
    const text = found.toString();
    try {
      history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
    } catch {
      // Shown inside another page, this one may have no address of its own.
    }
  };
  const draw = () => {
    const wanted = new URLSearchParams(controls.map((control) => [control.name, control.value]));
    choose();
    if (!list) return;
    const kept = items.map(matches(wanted));
    const groups = grouped(ordered(wanted), wanted.get("group"));
    arrange(groups, kept, wanted.get("sort"));
    redraw(groups, kept);
    by("count").textContent = say(words.count, { shown: kept.filter(Boolean).length, all: items.length });
  };
  const reveal = (element) => {
    element.scrollIntoView({ block: "start" });
    // Rows get their height when they come near; then it is known where the element is.
    requestAnimationFrame(() => requestAnimationFrame(() => element.scrollIntoView({ block: "start" })));
    (element.matches(".item") ? element.firstChild : element).focus({ preventScroll: true });
  };
  const open = (id) => {
    const at = place.get(id);
    if (at === undefined) return;
    if (rows[at].hidden) {
      controls.forEach((control) => { if (control.name !== "heat") control.value = ""; });
      draw();
    }
    fill(rows[at], items[at]);
    rows[at].open = true;
    reveal(rows[at]);
  };
  const recall = () => {
    const wanted = state();
    for (const control of controls) {
      const value = wanted.get(control.name);
      const first = control.tagName === "SELECT" ? control.options[0].value : "";
      control.value = value ?? first;
      if (control.tagName === "SELECT" && control.selectedIndex < 0) control.value = first;
    }
    draw();
    const ids = wanted.getAll("open");
    ids.forEach(open);
    if (!ids.length && list && [...wanted.keys()].some((key) => key !== "heat")) reveal(by("items"));
  };

  // --- commands to copy -----------------------------------------------------------------------
  for (const command of document.querySelectorAll(".commands code")) {
    const button = make("button", words.copy, "copy");
    button.type = "button";
    button.setAttribute("aria-label", words.copy + ": " + command.textContent);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = words.copied;
    });
    command.after(button);
  }

  // --- on paper -------------------------------------------------------------------------------
  // Of a comparison, the items that got worse are open; a list of items is printed as it stands.
  let printed = [];
  addEventListener("beforeprint", () => {
    const opening = [...document.querySelectorAll(".regressed .item:not([open])")];
    opening.forEach((one) => { one.open = true; });
    printed.push(...opening);
  });
  addEventListener("afterprint", () => {
    printed.forEach((one) => { one.open = false; });
    printed = [];
  });

  controls.forEach((control) => control.addEventListener("input", () => { draw(); remember(); }));
  if (list) {
    list.addEventListener("toggle", (event) => {
      const at = rows.indexOf(event.target);
      if (at < 0) return;
      if (event.target.open) fill(event.target, items[at]);
      if (!printed.length) remember();
    }, true);
    by("reset").addEventListener("click", () => {
      controls.forEach((control) => { if (control.name !== "heat") control.value = ""; });
      rows.forEach((row) => { row.open = false; });
      draw();
      remember();
    });
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    if (!link) return;
    const to = link.getAttribute("href").slice(1);
    if (to.includes("=")) {
      if (location.hash.slice(1) === to) recall();
      return;
    }
    const element = by(to);
    if (element) {
      event.preventDefault();
      reveal(element);
    }
  });
  addEventListener("hashchange", () => { if (isState()) recall(); });

  if (isState()) recall();
  else draw();
})();
