// Uses a page of `myriscope report` as a reader does: by pointer, at places where the browser finds an element.
// The result stands in an element at the end of the page, a line for each check.
(async () => {
  const lines = [];
  const check = (name, found, expected = true) => {
    const [a, b] = [found, expected].map((it) => JSON.stringify(it));
    lines.push(a === b ? `ok ${name}` : `failed ${name}: ${a}, expected ${b}`);
  };
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const [strip, table] = [document.querySelector(".strip"), document.getElementById("channel-table")];
  const tip = document.getElementById("tip");
  // The element at a share of the width of another, which is scrolled to.
  const at = (element, share = 0.5) => {
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, top, width, height } = element.getBoundingClientRect();
    const [clientX, clientY] = [left + width * share, top + height / 2];
    return [document.elementFromPoint(clientX, clientY), { clientX, clientY, bubbles: true, cancelable: true }];
  };
  const pointer = (type, element, share, more = {}) => {
    const [target, place] = at(element, share);
    const kind = type === "wheel" ? WheelEvent : PointerEvent;
    target.dispatchEvent(new kind(type, { ...place, ...more }));
  };
  const click = (element) => at(element)[0].click();
  const range = () => all("svg.zoom").map((svg) => svg.getAttribute("viewBox").split(" ").filter((_, n) => n % 2 === 0).map(Number));
  const is = (from, span) => range().every(([x, width]) => Math.abs(x - from) < 300 && Math.abs(width - span) < 300);
  const tool = (label) => click(document.querySelector(`[aria-label="${label}"]`));

  try {
    // Sorting by numbers, in both directions; a row without a value comes last.
    const column = 8;
    const values = () => [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.v ?? null);
    const known = values().filter((it) => it !== null);
    const rising = [...known].sort((a, b) => a - b);
    const none = values().filter((it) => it === null);
    check("there is something to sort", known.length > 2 && rising[0] !== rising.at(-1));
    click(table.tHead.rows[0].cells[column]);
    check("a head sorts", values(), [...rising, ...none]);
    click(table.tHead.rows[0].cells[column]);
    check("a second click sorts the other way", values(), [...rising.reverse(), ...none]);

    // Filtering.
    const rows = () => [...table.tBodies[0].rows].filter((row) => row.offsetHeight > 0).map((row) => row.cells[0].textContent);
    const names = rows();
    const word = names[0].slice(0, 2);
    const input = table.parentElement.previousElementSibling.querySelector("input");
    check("the box for the filter can be reached", at(input)[0] === input);
    input.value = word.toUpperCase();
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    check("a word filters", rows(), names.filter((name) => name.includes(word)));
    check("some rows are hidden", rows().length < names.length);
    input.value = "";
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    check("without a word all are there", rows(), names);

    // Zoom of all lanes together.
    const label = document.querySelector(".axis .strip").firstElementChild;
    const begin = label.textContent;
    check("the whole is shown", is(0, 100000));
    tool("Zoom in");
    check("half is shown", is(25000, 50000));
    check("the axis follows", label.textContent !== begin);
    tool("Later");
    check("the later half is shown", is(50000, 50000));
    check("marks outside are hidden", all(".mark").every((mark) => mark.hidden === Number(mark.dataset.x) < 50000));
    tool("Whole time");
    check("the whole is shown again", is(0, 100000) && label.textContent === begin);
    pointer("pointerdown", strip, 0.2);
    pointer("pointermove", strip, 0.6);
    check("a band is drawn", document.getElementById("band").offsetWidth > 10);
    pointer("pointerup", strip, 0.6);
    check("what was dragged over is shown", is(20000, 40000));
    pointer("wheel", strip, 0.5, { ctrlKey: true, deltaY: -1 });
    check("the wheel zooms around its place", is(26000, 28000));
    pointer("dblclick", strip, 0.5);
    check("a double click shows the whole", is(0, 100000));

    // Hover.
    pointer("pointermove", strip, 0.5);
    const states = strip.querySelector("svg").getAttribute("aria-label");
    const words = tip.textContent.match(/^(\w+) for [\d.]+ [num]?µ?s, [\d.]+ [num]?µ?s$/);
    check("the pointer shows a state and a time", !tip.hidden && states.includes(` ${words?.[1]} `));
    strip.closest(".lanes").dispatchEvent(new PointerEvent("pointerleave"));
    check("the text goes with the pointer", tip.hidden);

    // The network over time: a ring of four switches, whose four packets wait for each other.
    const next = () => new Promise((done) => setTimeout(done, 50));
    const [live, stills] = [document.querySelector(".live"), all(".still")];
    const [drawn, slider] = [live.querySelector("svg"), live.querySelector("input")];
    const go = async (address) => {
      location.hash = address;
      await next();
    };
    const key = (name) => live.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
    const place = () => Number(slider.value);
    check("moments that matter are drawn", stills.length > 3);
    for (const still of stills) {
      click(still.querySelector("a"));
      await next();
      check(`the script draws ${still.id} as the page has it`, drawn.innerHTML === still.querySelector("svg").innerHTML);
    }
    await go("#t=2us");
    check("the cycle is drawn whole", all(".ring use", drawn).length, 4);
    check("its packets are marked as stopped", all(".worm-head.stopped", drawn).length, 4);
    check("the cause is named", all("#culprits li").filter((it) => !it.hidden).map((it) => it.textContent.trim()), ["◎ deadlock"]);
    const when = all("#f-standstill .when").find((it) => it.textContent === "1.5875 µs");
    click(when.querySelector("a"));
    await next();
    check("the time of a finding leads to its moment", live.querySelector("a").hash, "#t=1.5875us");
    check("two senders are stopped then", all(".b-stopped use", drawn).length, 2);
    await go("#t=0.0525ms");
    check("a time in another unit is the same moment", live.querySelector("a").hash, "#t=52.5us");
    key("Home");
    check("the first moment", [place(), live.querySelector("a").hash], [0, "#t=0us"]);
    await new Promise((done) => setTimeout(done, 400));
    check("its address", location.hash, "#t=0us");
    check("nothing is known yet", all(".b-unknown use", drawn).length, 16);
    key("ArrowRight");
    key("ArrowRight");
    key("ArrowLeft");
    check("keys step by events", place(), 1);
    tool("Next event");
    check("so does a button", place(), 2);
    slider.value = 7;
    slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
    check("the slider moves", place() === 7 && live.querySelector("a").hash !== "#t=0us");
    key(" ");
    await new Promise((done) => setTimeout(done, 400));
    key(" ");
    const reached = place();
    check("it plays", reached > 7);
    await new Promise((done) => setTimeout(done, 400));
    check("and stops", place(), reached);
    key("End");
    check("the last moment", place(), Number(slider.max));

    // A packet: its way as stairs, and its lanes in order.
    await go("#t=2us");
    at(drawn);
    const head = all(".worm-head", drawn).find((it) => it.textContent === "3");
    head.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    const way = ["h3:0>s3:2", "s3:0>s0:1", "s0:0>s1:1", "s1:2>h1:0"];
    check("its stairs begin with its first channel", all(".live .way text").map((it) => it.textContent), way);
    const lanes = all("#links .lane[data-track]").sort((a, b) => a.offsetTop - b.offsetTop);
    check("its lanes are first", lanes.slice(0, 4).map((it) => it.querySelector(".name").textContent), way);
    check("and marked", all(".hop").length, 4);

    // Links within the page. The uppermost where several are at one place.
    const mark = at(document.querySelector(".mark"))[0].closest(".mark");
    click(mark);
    await next();
    check("a mark leads to its finding", location.hash, mark.getAttribute("href"));
    const details = document.querySelector("details");
    check("the rules are closed", details.open, false);
    click(document.querySelector('.card a[href^="#rule-"]'));
    await next();
    check("a rule opens their table", details.open);
  } catch (error) {
    lines.push(`failed: ${error} ${error.stack}`);
  }
  document.body.append(Object.assign(document.createElement("pre"), { id: "checks", textContent: lines.join("\n") }));
})();
