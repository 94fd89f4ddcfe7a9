"use strict";
// Sorting and filtering of tables; zoom and times of the lanes. The page is complete without it.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, properties, parent) => {
    const element = Object.assign(document.createElement(tag), properties);
    if (parent) parent.append(element);
    return element;
  };

  // Tables.
  const value = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.v ?? cell.textContent.trim();
    const number = Number(text.replace(/[%<>\s]/g, ""));
    return text === "" || text === "–" ? null : Number.isNaN(number) ? text : number;
  };
  const compare = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === typeof b && typeof a === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };
  for (const table of all("table.data")) {
    const body = table.tBodies[0];
    const heads = all("thead th", table);
    heads.forEach((head, column) => {
      const button = make("button", { type: "button", textContent: head.textContent });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const falling = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => [value(row, column), row]);
        rows.sort(([a], [b]) => (a === null || b === null || !falling ? compare(a, b) : compare(b, a)));
        body.append(...rows.map(([, row]) => row));
      });
    });
    if (body.rows.length > 5) {
      const box = make("p", { className: "filter" });
      const input = make("input", { type: "search", placeholder: "Filter rows" }, box);
      input.setAttribute("aria-label", `Filter rows: ${table.caption?.textContent ?? ""}`);
      table.parentElement.before(box);
      input.addEventListener("input", () => {
        const words = input.value.toLowerCase().split(/\s+/);
        for (const row of body.rows) {
          const text = [...row.cells].map((cell) => cell.textContent.toLowerCase()).join(" ");
          row.hidden = !words.every((word) => text.includes(word));
        }
      });
    }
  }
  // A link to a rule opens the table that has it.
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = target?.closest("details");
    if (details) details.open = true;
    target?.scrollIntoView();
  };
  window.addEventListener("hashchange", open);
  if (location.hash) open();

  // Pictures over time: all share one range, in hundred thousandths of the whole.
  const WIDTH = 100000;
  const lanes = all("[data-length]");
  if (lanes.length === 0) return;
  const origin = Number(lanes[0].dataset.from);
  const length = Number(lanes[0].dataset.length);
  let range = [0, WIDTH];
  const units = [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"]];
  const time = (ps) => {
    const [size, unit] = units.find(([size]) => ps >= size) ?? [1e3, "ns"];
    return `${Number((ps / size).toPrecision(6))} ${unit}`;
  };
  const at = (x) => origin + (x / WIDTH) * length;
  const tip = make("div", { id: "tip", hidden: true }, document.body);
  tip.setAttribute("role", "status");
  const show = (from, to) => {
    const span = Math.min(WIDTH, Math.max(to - from, 20));
    from = Math.min(Math.max(from, 0), WIDTH - span);
    range = [from, from + span];
    for (const svg of all("svg.zoom")) {
      const height = svg.viewBox.baseVal.height;
      svg.setAttribute("viewBox", `${from} 0 ${span} ${height}`);
    }
    for (const mark of all(".mark")) {
      const place = (Number(mark.dataset.x) - from) / span;
      mark.style.left = `${place * 100}%`;
      mark.hidden = place < 0 || place > 1;
    }
    for (const axis of all(".axis .strip")) {
      [...axis.children].forEach((label, n) => (label.textContent = time(at(from + (span * n) / 4))));
    }
  };
  const zoom = (factor, middle = (range[0] + range[1]) / 2) =>
    show(middle - (middle - range[0]) * factor, middle + (range[1] - middle) * factor);
  const move = (share) => show(range[0] + (range[1] - range[0]) * share, range[1] + (range[1] - range[0]) * share);

  // The stretch of a picture at a place: rectangles of its paths, read once.
  const stretches = new Map();
  const stretch = (svg, x) => {
    if (!stretches.has(svg)) {
      const found = [];
      for (const path of all('path[class^="s-"]', svg)) {
        const name = path.getAttribute("class").slice(2);
        for (const [, ...sides] of path.getAttribute("d").matchAll(/M(\d+) (\d+)h(\d+)v(\d+)/g)) {
          const [from, top, width, height] = sides.map(Number);
          const full = svg.viewBox.baseVal.height - top;
          const words = name === "fill" ? `${full - height} to ${full} cells` : name;
          found.push([from, from + width, words]);
        }
      }
      stretches.set(svg, found.sort((a, b) => a[0] - b[0]));
    }
    return stretches.get(svg).find(([from, to]) => from <= x && x < Math.max(to, from + 1));
  };
  for (const box of lanes) {
    const tools = make("p", { className: "tools" });
    for (const [text, label, action] of [
      ["+", "Zoom in", () => zoom(0.5)], ["−", "Zoom out", () => zoom(2)],
      ["‹", "Earlier", () => move(-0.5)], ["›", "Later", () => move(0.5)], ["All", "Whole time", () => show(0, WIDTH)],
    ]) {
      const button = make("button", { type: "button", textContent: text, title: label }, tools);
      button.setAttribute("aria-label", label);
      button.addEventListener("click", action);
    }
    make("small", { textContent: "or drag across a lane; Ctrl and wheel zoom, double click shows all" }, tools);
    box.before(tools);
    const place = (event, strip) => {
      const { left, width } = strip.getBoundingClientRect();
      return range[0] + Math.min(Math.max((event.clientX - left) / width, 0), 1) * (range[1] - range[0]);
    };
    const cursor = make("div", { id: "cursor" });
    let drag = null;
    box.addEventListener("pointermove", (event) => {
      const strip = event.target.closest(".strip");
      const svg = strip?.querySelector("svg.zoom");
      if (!svg) return void ((tip.hidden = true), cursor.remove());
      const x = place(event, strip);
      const { left } = strip.getBoundingClientRect();
      strip.append(cursor);
      cursor.style.left = `${event.clientX - left}px`;
      const found = stretch(svg, x);
      const words = found ? `${found[2]} for ${time((length * (found[1] - found[0])) / WIDTH)}, ` : "";
      tip.textContent = `${words}${time(at(x))}`;
      tip.hidden = false;
      tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4)}px`;
      tip.style.top = `${event.clientY + 18}px`;
      if (drag?.strip === strip) {
        const [from, to] = [Math.min(drag.x, event.clientX), Math.max(drag.x, event.clientX)];
        Object.assign(drag.band.style, { left: `${from - left}px`, width: `${to - from}px` });
      }
    });
    box.addEventListener("pointerleave", () => ((tip.hidden = true), cursor.remove()));
    box.addEventListener("pointerdown", (event) => {
      const strip = event.target.closest(".strip");
      if (!strip?.querySelector("svg.zoom") || event.target.closest("a") || event.button !== 0) return;
      event.preventDefault();
      drag = { strip, x: event.clientX, from: place(event, strip), band: make("div", { id: "band" }, strip) };
    });
    window.addEventListener("pointerup", (event) => {
      if (!drag) return;
      const { strip, x, from, band } = drag;
      drag = null;
      band.remove();
      const to = place(event, strip);
      if (Math.abs(event.clientX - x) > 4) show(Math.min(from, to), Math.max(from, to));
    });
    box.addEventListener("dblclick", () => show(0, WIDTH));
    box.addEventListener("wheel", (event) => {
      const strip = event.target.closest(".strip");
      if (!event.ctrlKey || !strip) return;
      event.preventDefault();
      zoom(event.deltaY < 0 ? 0.7 : 1.4, place(event, strip));
    }, { passive: false });
  }
})();
