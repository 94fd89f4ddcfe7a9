// The network over time: the same pictures as those of the page, at any moment.
(() => {
  const box = document.getElementById("moment-data");
  if (!box) return;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const [origin, span] = [Number(box.dataset.from), Number(box.dataset.span)];
  const [end, number] = [origin + span, (digits) => parseInt(digits, 36)];
  const records = (text) => (text ? text.split(";").map((it) => it.split(" ")) : []);
  const period = (from, length) => [origin + number(from), origin + number(from) + number(length)];
  const NAMES = { U: "unknown", O: "open", R: "reset", S: "stopped", D: "sending", V: "starved", I: "idle" };
  const tracks = all(".track").map((path) => {
    const [first, ...runs] = path.dataset.s.match(/[A-Z]?[0-9a-z]+/g);
    const [starts, states] = [[origin + number(first)], []];
    for (const run of runs) {
      states.push(NAMES[run[0]]);
      starts.push(starts.at(-1) + number(run.slice(1)));
    }
    const [x1, y1, x2, y2, x3, y3] = path.dataset.at.split(" ");
    const points = { head: [x1, y1], buffered: [x2, y2], tail: [x3, y3] };
    return { starts, states, points, ends: path.dataset.n.split(" "), name: path.textContent };
  });
  // Number of elements that are not later.
  const until = (list, at) => {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const state = (track, at) => track.states[until(track.starts, at) - 1] ?? "unknown";
  const packets = records(box.dataset.packets).map(([id, fate, ...rest]) => {
    const hops = [];
    for (let n = 0; n < rest.length; n += 3) hops.push([Number(rest[n]), ...period(rest[n + 1], rest[n + 2])]);
    const [word, more] = fate.split("+");
    return { id: Number(id), fate: more ? `${word}, without its last ${more} link${more === "1" ? "" : "s"}` : word, hops };
  });
  const stops = records(box.dataset.stops).map(([track, from, length, culprit, next]) => {
    return { track: tracks[track], span: period(from, length), culprit: Number(culprit), next: tracks[next] };
  });
  const cycles = records(box.dataset.cycles).map(([from, length, ...own]) => ({ span: period(from, length), own }));
  const culprits = all("#culprits li");
  const during = ([from, to], at) => from <= at && at < to;

  const worm = ({ hops }, at) => {
    const last = hops.findLastIndex(([, from]) => from <= at);
    if (last < 0) return null;
    const [head, next] = [tracks[hops[last][0]], tracks[hops[last + 1]?.[0]]];
    const isThere = at < hops[last][2];
    if (!isThere && next?.ends[0] !== head.ends[1]) return null;
    const held = hops.filter(([, ...span]) => during(span, at)).map(([track]) => track);
    return { held, at: head.points[isThere ? "head" : "buffered"], stopped: held.some((it) => state(tracks[it], at) === "stopped") };
  };
  const layer = (name, own) => (own.length ? `<g class="${name}">${own.map((it) => `<use href="#c${it}"></use>`).join("")}</g>` : "");
  // Numbers and names of states only: nothing here is text of the capture.
  const draw = (at) => {
    const worms = packets.map((packet) => [packet, worm(packet, at)]).filter(([, it]) => it);
    const states = tracks.map((track) => state(track, at));
    const active = stops.filter((stop) => during(stop.span, at));
    const causes = [...new Set(active.map((stop) => stop.culprit))].sort((a, b) => a - b);
    const alike = (name) => states.flatMap((own, n) => (own === name ? [n] : []));
    const parts = [
      ...worms.map(([{ id }, { held }]) => layer(`worm w${id % 4}`, held)),
      ...cycles.filter((it) => during(it.span, at)).map(({ own }) => layer("ring", own)),
      ...Object.values(NAMES).map((name) => layer(`b-${name}`, alike(name))),
      '<use href="#nodes"></use>',
      ...active.filter((it) => it.next).map(({ track, next }) => `<path class="wait" d="M${track.points.head.join(" ")}L${next.points.tail.join(" ")}"></path>`),
      ...worms.map(([{ id }, { at: [x, y], stopped }]) => {
        const r = 8 + 2 * Math.max(String(id).length - 2, 0);
        const shape = stopped ? `<rect x="${x - r}" y="${y - 8}" width="${2 * r}" height="16"></rect>` : `<circle cx="${x}" cy="${y}" r="${r}"></circle>`;
        return `<g class="worm-head${stopped ? " stopped" : ""}">${shape}<text x="${x}" y="${y}" dy="3">${id}</text></g>`;
      }),
      ...causes.filter((it) => culprits[it]?.dataset.at).map((it) => {
        const [x, y] = culprits[it].dataset.at.split(" ");
        return `<circle class="culprit" cx="${x}" cy="${y}" r="21"></circle>`;
      }),
    ];
    const many = `${box.dataset.v > 0 ? "at least " : ""}${worms.length} ${worms.length === 1 ? "packet" : "packets"}`;
    const text = `${many} on the way, ${worms.filter(([, it]) => it.stopped).length} of them stopped; ${alike("stopped").length} of ${tracks.length} channels stopped, ${alike("unknown").length} unknown`;
    return { svg: parts.join(""), text, causes };
  };

  // What happens: every change of a channel, a packet or a wait. These are the places of the slider too, because all
  // that matters is often in a small part of the time.
  const changes = [origin, end - 1];
  tracks.forEach(({ starts }) => changes.push(...starts));
  packets.forEach(({ hops }) => hops.forEach(([, ...span]) => changes.push(...span)));
  [...stops, ...cycles].forEach(({ span }) => changes.push(...span));
  const events = [...new Set(changes)].filter((at) => origin <= at && at < end).sort((a, b) => a - b);

  const make = (tag, properties, parent) => {
    const element = Object.assign(document.createElement(tag), properties);
    parent.append(element);
    return element;
  };
  const live = document.createElement("div");
  Object.assign(live, { className: "live", tabIndex: 0 });
  live.setAttribute("role", "group");
  live.setAttribute("aria-label", "Network at a moment: arrow keys step, Space plays");
  document.querySelector(".stills").before(live);
  const tools = make("p", { className: "tools" }, live);
  const slider = make("input", { type: "range", min: 0, max: events.length - 1, value: 0 }, live);
  slider.setAttribute("aria-label", "Moment");
  const like = document.querySelector(".still svg") ?? document.querySelector("svg.network");
  const svg = make("div", { className: "scroll" }, live).appendChild(like.cloneNode());
  const aside = make("div", {}, live);
  const words = make("p", {}, aside);
  words.setAttribute("role", "status");
  const link = make("a", {}, words);
  const said = make("span", {}, words);
  aside.append(...all("#culprits"));
  let [now, timer, selected, pending] = [origin, null, null, null];

  const show = (at, keeps) => {
    now = Math.min(Math.max(at, origin), end - 1);
    const { svg: drawn, text, causes } = draw(now);
    svg.innerHTML = drawn;
    svg.setAttribute("aria-label", `Network: ${text}`);
    slider.value = until(events, now) - 1;
    slider.setAttribute("aria-valuetext", `${now / 1e6} µs`);
    [link.textContent, link.href] = [`${now / 1e6} µs`, `#t=${now / 1e6}us`];
    said.textContent = `: ${text}.`;
    culprits.forEach((it, n) => (it.hidden = !causes.includes(n)));
    all(".worm-head", svg).forEach((it) => it.classList.toggle("selected", it.textContent === String(selected)));
    // Browsers permit few changes of the address in a second.
    clearTimeout(pending);
    if (!keeps) pending = setTimeout(() => history.replaceState(null, "", link.href), 300);
  };
  const step = (by) => {
    const place = until(events, now);
    if (by > 0) show(events[place] ?? now);
    else show(events[place - (events[place - 1] === now ? 2 : 1)] ?? now);
  };
  const play = () => {
    if (timer !== null) {
      clearInterval(timer);
      timer = null;
    } else {
      // The whole in thirty seconds.
      if (now >= end - 1) show(origin);
      timer = setInterval(() => {
        show(events[until(events, now) - 1 + Math.ceil(events.length / 240)] ?? end);
        if (now >= end - 1) play();
      }, 125);
    }
    player.textContent = timer === null ? "▶" : "‖";
    player.setAttribute("aria-label", timer === null ? "Play" : "Pause");
  };
  const button = (text, label, action) => {
    const it = make("button", { type: "button", textContent: text, title: label }, tools);
    it.setAttribute("aria-label", label);
    it.addEventListener("click", action);
    return it;
  };
  button("‹", "Previous event", () => step(-1));
  const player = button("▶", "Play", play);
  button("›", "Next event", () => step(1));
  slider.addEventListener("input", () => show(events[slider.value]));
  live.addEventListener("keydown", (event) => {
    const keys = { ArrowRight: () => step(1), ArrowLeft: () => step(-1), Home: () => show(origin), End: () => show(end - 1), " ": play };
    const action = event.target.closest("button, select") ? null : keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  // A packet: its way as stairs, and the lanes of its channels in the order in which it passes them.
  const SVG = "http://www.w3.org/2000/svg";
  const draws = (tag, attributes, parent) => {
    const element = parent.appendChild(document.createElementNS(SVG, tag));
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    return element;
  };
  const stairs = document.createElement("figure");
  stairs.className = "way";
  const choice = make("select", {}, tools);
  choice.setAttribute("aria-label", "Packet");
  make("option", { value: "", textContent: "a packet …" }, choice);
  const title = ({ id, fate, hops }) => `${id}: ${tracks[hops[0][0]].name} … ${tracks[hops.at(-1)[0]].name}, ${fate}`;
  packets.forEach((packet, n) => make("option", { value: n, textContent: title(packet) }, choice));
  const select = (packet) => {
    selected = packet?.id ?? null;
    choice.value = packet ? packets.indexOf(packet) : "";
    all(".hop").forEach((it) => it.remove());
    all(".lanes").forEach((it) => it.classList.toggle("path", Boolean(packet)));
    all(".lane").forEach((it) => (it.style.order = it.classList.contains("axis") ? 1000 : ""));
    stairs.remove();
    if (!packet) return show(now, true);
    live.append(stairs);
    stairs.replaceChildren();
    make("figcaption", { textContent: `Packet ${title(packet)}` }, stairs);
    const [from, to] = [Math.min(...packet.hops.map((it) => it[1])), Math.max(...packet.hops.map((it) => it[2]))];
    const picture = draws("svg", { viewBox: `0 0 760 ${22 * packet.hops.length}` }, stairs);
    packet.hops.forEach(([track, start, stop], n) => {
      const y = 22 * n;
      draws("text", { x: 182, y: y + 15 }, picture).textContent = tracks[track].name.slice(0, 26);
      const bar = (a, b, name) => {
        const [left, right] = [a, b].map((at) => 190 + Math.floor(((at - from) * 560) / Math.max(to - from, 1)));
        draws("rect", { class: name, x: left, y: y + 2, width: Math.max(right - left, 2), height: 16 }, picture);
      };
      bar(start, stop, "");
      const { starts, states } = tracks[track];
      states.forEach((own, n) => {
        const [a, b] = [Math.max(starts[n], start), Math.min(starts[n + 1], stop)];
        if (own === "stopped" && a < b) bar(a, b, "stopped");
      });
      for (const lane of all(`.lane[data-track="${track}"]`)) {
        lane.style.order = n;
        const x = (at) => ((at - origin) / span) * 100000;
        draws("rect", { class: "hop", x: x(start), y: 0, width: x(stop) - x(start), height: 16 }, lane.querySelector("svg"));
      }
    });
    if (!packet.hops.some(([, ...own]) => during(own, now))) show(from);
    else show(now, true);
  };
  choice.addEventListener("change", () => select(packets[choice.value]));
  svg.addEventListener("click", (event) => {
    const head = event.target.closest(".worm-head");
    if (head) select(packets.find((it) => String(it.id) === head.textContent));
  });

  // A link to a moment; the times of findings are such links.
  for (const when of all(".when")) {
    const at = Number(when.dataset.v);
    if (at < origin || at >= end) continue;
    const text = when.textContent;
    when.replaceChildren();
    make("a", { textContent: text, href: `#t=${at / 1e6}us` }, when);
  }
  const UNITS = { ps: 1, ns: 1e3, us: 1e6, "µs": 1e6, ms: 1e9, s: 1e12 };
  const follow = () => {
    const [, value, unit] = decodeURIComponent(location.hash).match(/^#t=([\d.]+)(ps|ns|us|µs|ms|s)$/) ?? [];
    if (!unit) return false;
    show(Math.round(Number(value) * UNITS[unit]), true);
    live.scrollIntoView({ block: "nearest" });
    return true;
  };
  window.addEventListener("hashchange", follow);
  if (!follow()) show(Number((document.querySelector(".still:has(.ring)") ?? document.querySelector(".still"))?.dataset.v ?? origin), true);
})();
