// The page of a match. It shows what the payload holds; of the rules of games it knows nothing.
// Text that strangers wrote reaches the page as text only. Pictures are parsed as XML: the referee drew them.

const TIME_MS = { least: 300, most: 2000 }; // how long a step stays when it is played
const LIVE_MS = 1000; // how often the live region speaks while playing
const SCREEN = { least: 200, most: 10000 }; // how high a screen may be, in pixels
const BY = { f: "the only legal action", c: "default: time was up", d: "default: the seat is out", o: "drawn: part of the opening" };

function make(name, content = "", className = "") {
  const made = document.createElement(name);
  made.append(content);
  if (className) made.className = className;
  return made;
}

function drawn(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Make one picture of another, and touch only what differs: laying out all of its text anew takes long.
function mend(old, fresh) {
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const before = [...old.childNodes];
  const after = [...fresh.childNodes];
  let end = null; // where what is alike at the end begins
  while (before.length && after.length && before.at(-1).isEqualNode(after.at(-1))) {
    end = before.pop();
    after.pop();
  }
  while (before.length && after.length && before[0].isEqualNode(after[0])) {
    before.shift();
    after.shift();
  }
  const pairs = before.length === after.length;
  before.forEach((part, index) => {
    if (!pairs) part.remove();
    else if (part.nodeType !== Node.ELEMENT_NODE || part.nodeName !== after[index].nodeName) part.replaceWith(after[index]);
    else mend(part, after[index]);
  });
  if (!pairs) for (const part of after) old.insertBefore(part, end);
}

function start(data) {
  const get = (id) => document.getElementById(id);
  const main = get("match");
  const steps = data.seat.length;
  const seats = data.bots.length;
  const pictureOf = makePictures(data);

  // --- what is known of each step

  const filled = (changes) => {
    const values = [];
    let next = 0;
    for (let step = 0; step <= steps; step++) {
      values.push(next < changes.length && changes[next][0] === step ? changes[next++][1] : values[step - 1]);
    }
    return values;
  };
  const places = filled(data.places);
  const scores = filled(data.scores);
  const rounds = filled(data.rounds);
  if (data.final) {
    places[steps] = data.final.map(([place]) => place);
    scores[steps] = data.final.map(([, score]) => score);
  }
  const leads = (step, seat) => places[step][seat] === 1;
  const leaders = places.map((_, step) => data.bots.map((_, seat) => leads(step, seat)).join());
  const clocks = data.bots.map((_, seat) => filled(data.clocks.filter((c) => c[1] === seat).map((c) => [c[0], c])));
  const thought = new Map(data.clocks.map(([step, seat, ms]) => [`${step} ${seat}`, ms]));

  const inOrder = (list) => [...new Set(list)].sort((a, b) => a - b);
  const marks = {
    fault: inOrder([
      ...data.troubles.map(([step]) => step),
      ...data.seat.map((_, index) => index + 1).filter((step) => data.by[step - 1] === "c"),
    ]),
    score: data.scores.slice(1).map(([step]) => step),
    "change of lead": inOrder(leaders.keys()).filter((step) => step && leaders[step] !== leaders[step - 1]),
    round: data.rounds.map(([step]) => step),
  };

  const isForced = (step) => data.by[step - 1] === "f";
  const isTurn = (step) => step < 2 || step > steps || data.seat[step - 1] !== data.seat[step - 2];
  const nameOf = (seat) => `seat ${seat} (${data.bots[seat]})`;
  const troubleText = ([, seat, out, reason, detail, rule]) =>
    `${nameOf(seat)} ${out ? "is out" : "is struck"} (${reason})${detail ? ": " + detail : ""}${rule ? ", rule " + rule : ""}`;
  const entryOf = (step, seat) => (seat !== null && data.logs[seat][step - 1]) || data.log[step - 1];
  const actionText = (step, seat) => {
    const said = entryOf(step, seat)[1];
    if (said >= 0) return data.texts[said];
    const own = seat === null && data.logs.length ? entryOf(step, data.seat[step - 1])[1] : -1; // the match is over
    return own < 0 ? "decides in secret" : `decides in secret: ${data.texts[own]}`;
  };
  const seconds = (value) => `${value.toFixed(1)} s`;

  // --- what is shown

  let step = -1;
  let seat = null;
  let timer = null;
  let currentPicture = "";
  let spokenAt = 0;
  let lines = [];

  function show(wanted, quietly = false) {
    const before = step;
    step = Math.max(0, Math.min(steps, wanted));
    const picture = pictureOf(step, seat);
    if (picture !== currentPicture) {
      const parsed = document.adoptNode(new DOMParser().parseFromString(picture, "image/svg+xml").documentElement);
      if (currentPicture) mend(get("board").querySelector("svg"), parsed);
      else get("board").replaceChildren(parsed); // the plain picture is written in another way
      currentPicture = picture;
      get("moment").textContent = (get("board").querySelector("title")?.textContent ?? "").replace(`${data.game}, `, "");
      if (get("words").open) sayBoard();
    }
    const troubles = data.troubles.filter(([after]) => after === step);
    const who = step ? `${nameOf(data.seat[step - 1])} ` : "";
    const what = step ? actionText(step, seat) : "start of the match";
    const why = step && entryOf(step, seat)[0] >= 0 && BY[data.by[step - 1]];
    const moment = `step ${step} of ${steps}: ${who}${what}${why ? ` (${why})` : ""}`;
    const parts = [moment, ...troubles.map(troubleText)];
    if (step === steps && data.final) parts.push(ending());
    get("now").textContent = parts.join(". ");
    get("now").classList.toggle("fault", troubles.length > 0 || data.by[step - 1] === "c");
    const slider = get("slider");
    slider.value = step;
    slider.setAttribute(
      "aria-valuetext",
      `step ${step} of ${steps}${rounds[step] ? ", " + rounds[step] : ""}${step ? ", seat " + data.seat[step - 1] : ""}`,
    );
    showLine();
    showLanes();
    const now = performance.now();
    if (!quietly && (timer === null || now - spokenAt > LIVE_MS)) {
      spokenAt = now;
      const count = step ? entryOf(step, seat).length - 2 : 0;
      const changed = count ? `; ${count} change${count > 1 ? "s" : ""}` : "";
      get("live").textContent = (step < before ? "back to " : "") + parts.join(". ") + changed;
    }
    if (timer === null) keepPlace();
  }

  function ending() {
    const first = data.bots.map((_, place) => place).filter((place) => leads(steps, place));
    return `The match is over; first: ${first.map(nameOf).join(" and ")}`;
  }

  function sayBoard() {
    const words = get("board").querySelector("desc")?.textContent ?? "";
    get("said").replaceChildren(...words.split(/(?<=\.) /).map((sentence) => make("li", sentence)));
  }

  // --- the log

  function listLines() {
    lines = [];
    const list = [];
    const troubles = Map.groupBy
      ? Map.groupBy(data.troubles, ([after]) => after)
      : data.troubles.reduce((map, t) => map.set(t[0], [...(map.get(t[0]) ?? []), t]), new Map());
    const headings = new Map(data.rounds);
    for (let at = 0; at <= steps; at++) {
      if (headings.has(at)) list.push(make("li", headings.get(at), "heading"));
      if (at && (isTurn(at) || headings.has(at - 1) || headings.has(at))) list.push(makeTurn(at));
      const line = make("li");
      const button = make("button");
      button.type = "button";
      button.tabIndex = -1;
      if (at === 0) button.append("start of the match");
      else {
        const [action, , ...changed] = entryOf(at, seat);
        button.append(`${at} · `, make("span", `seat ${data.seat[at - 1]} `, "unseen"), make("b", actionText(at, seat)));
        if (action >= 0 && BY[data.by[at - 1]]) button.append(` (${BY[data.by[at - 1]]})`);
        if (action >= 0) button.append(" ", make("code", data.texts[action]));
        if (changed.length) button.append(make("small", changed.map((text) => data.texts[text]).join("; ")));
      }
      button.addEventListener("click", () => go(at));
      line.append(button);
      list.push(line);
      lines.push(button);
      for (const trouble of troubles.get(at) ?? []) list.push(make("li", troubleText(trouble), "fault"));
    }
    get("lines").replaceChildren(...list);
  }

  // The head of what a seat does without another one in between.
  function makeTurn(at) {
    const turn = make("li", `seat ${data.seat[at - 1]} · `, "turn");
    turn.append(make("bdi", data.bots[data.seat[at - 1]]));
    return turn;
  }

  function showLine() {
    const box = get("lines");
    const old = box.querySelector("[aria-current]");
    const line = lines[step];
    if (old && old !== line) {
      old.removeAttribute("aria-current");
      old.tabIndex = -1;
    }
    line.setAttribute("aria-current", "step");
    line.tabIndex = 0;
    const above = Math.max(0, (box.clientHeight - line.offsetHeight) / 2); // the line in the middle, or its beginning at the top
    box.scrollTop += line.getBoundingClientRect().top - box.getBoundingClientRect().top - above;
  }

  // --- the charts: for each seat its score with the steps at which it led, and the time of its decisions

  const lanes = [];

  function listLanes() {
    const every = scores.flat();
    const low = every.reduce((least, score) => Math.min(least, score), 0);
    const high = every.reduce((most, score) => Math.max(most, score), 1);
    const longest = data.clocks.reduce((most, [, , ms]) => Math.max(most, ms), 0);
    const fullest = data.clocks.reduce((most, [, , , left]) => Math.max(most, left), 1);
    const width = Math.max(1, steps);
    for (let own = 0; own < seats; own++) {
      const svg = drawn("svg", { viewBox: `0 0 ${width} 72`, preserveAspectRatio: "none", "aria-hidden": "true" });
      const height = (score) => (42 - (38 * (score - low)) / (high - low)).toFixed(1);
      let score = `M0 ${height(scores[0][own])}`;
      let led = "";
      let time = "";
      let clock = "";
      let bad = "";
      for (let at = 1; at <= steps; at++) {
        score += `H${at}`;
        if (scores[at][own] !== scores[at - 1][own]) score += `V${height(scores[at][own])}`;
        if (leads(at, own)) led += `M${at - 1} 0h1v44h-1z`;
        const ms = thought.get(`${at} ${own}`);
        if (ms) time += `M${at - 0.5} 72v${(-24 * Math.max(0.04, ms / longest)).toFixed(1)}`;
        const left = clocks[own][at]?.[3];
        if (left !== undefined) clock += `${clock ? "L" : "M"}${at} ${(71 - (24 * Math.max(0, left)) / fullest).toFixed(1)}`;
        if (data.by[at - 1] === "c" && data.seat[at - 1] === own) bad += `M${at - 0.5} 72v-24`;
      }
      for (const [after, whose] of data.troubles) if (whose === own) bad += `M${after} 72v-72`;
      for (const [d, name] of [[led, "led"], [clock, "clock"], [score, "score"], [time, "time"], [bad, "bad"]]) {
        svg.append(drawn("path", { d, class: name, "vector-effect": "non-scaling-stroke" }));
      }
      const rule = make("div", "", "rule");
      const lane = make("div", "", "lane");
      lane.append(svg, rule);
      lane.addEventListener("click", (event) => {
        const box = lane.getBoundingClientRect();
        go(Math.round(((event.clientX - box.left) / box.width) * steps));
      });
      const figures = make("div", "", "figures");
      const name = make("b", `seat ${own} `);
      name.append(make("bdi", data.bots[own]));
      const [place, points, left] = [make("span"), make("span"), make("span")];
      figures.append(name, place, points, left);
      const item = make("li", figures);
      item.append(lane);
      get("lanes").append(item);
      lanes.push({ rule, place, points, left });
    }
    const slowest = longest < 1000 ? `${longest} ms` : seconds(longest / 1000);
    get("scale").textContent =
      `Line: score, ${low} to ${high} points, as the rules count it at each step; a board may add a part of it only at the end. Shaded where the seat leads. Red: strikes, time-outs, and where a seat went out.` +
      (longest ? ` Bars: time of a decision, the longest ${slowest}. Dots: what is left on the clock, at most ${seconds(fullest)}.` : "");
  }

  function showLanes() {
    lanes.forEach(({ rule, place, points, left }, own) => {
      rule.style.left = `${(100 * step) / Math.max(1, steps)}%`;
      place.textContent = places[step][own] === undefined ? "" : `place ${places[step][own]}`;
      points.textContent = `${scores[step][own]} point${scores[step][own] === 1 ? "" : "s"}`;
      const clock = clocks[own][step];
      left.textContent = `clock ${clock ? seconds(clock[3]) : "not used yet"}`;
    });
  }

  // --- moving

  function go(wanted) {
    pause();
    show(wanted);
  }

  function next(list, direction) {
    return direction > 0 ? list.find((at) => at > step) : list.findLast((at) => at < step);
  }

  function jump(direction) {
    const kind = get("kind").value;
    const found = next(marks[kind], direction);
    if (found === undefined) say(`no ${direction > 0 ? "later" : "earlier"} ${kind}`);
    else go(found);
  }

  function say(text) {
    pause();
    get("now").textContent = text;
    get("live").textContent = text;
  }

  function round(direction) {
    go(next(marks.round, direction) ?? (direction > 0 ? steps : 0));
  }

  function turn(direction) {
    let at = step + direction;
    while (at > 0 && at < steps && !isTurn(at + 1)) at += direction;
    go(at);
  }

  function look(wanted) {
    if (wanted !== null && !data.seats[wanted]) {
      say(wanted < seats ? "this page does not show what seats knew" : `there is no seat ${wanted}`);
      return;
    }
    seat = wanted;
    get("view").value = seat ?? "";
    listLines();
    show(step);
  }

  // --- playing

  function play() {
    if (step >= steps) show(0, true);
    document.body.classList.add("playing");
    get("play").setAttribute("aria-label", "Pause");
    tick();
  }

  function tick() {
    let at = step + 1;
    while (get("choices").checked && at < steps && isForced(at)) at++;
    const ms = thought.get(`${at} ${data.seat[at - 1]}`) ?? 0;
    const wait = Math.max(TIME_MS.least, Math.min(TIME_MS.most, ms)) / Number(get("speed").value);
    timer = setTimeout(() => {
      if (at >= steps) {
        pause();
        show(steps);
      } else {
        show(at);
        tick();
      }
    }, wait);
  }

  function pause() {
    if (timer === null) return;
    clearTimeout(timer);
    timer = null;
    document.body.classList.remove("playing");
    get("play").setAttribute("aria-label", "Play");
    keepPlace();
  }

  // --- the address: #s=214&as=2, and `embed` in a frame of a page that has title and result itself

  function keepPlace() {
    const parts = [`s=${step}`];
    if (seat !== null) parts.push(`as=${seat}`);
    if (document.body.classList.contains("embed")) parts.push("embed");
    try {
      history.replaceState(null, "", "#" + parts.join("&"));
    } catch {
      // A frame may forbid it; the page works without.
    }
  }

  function readPlace() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const number = (key) => (/^\d{1,6}$/.test(wanted.get(key) ?? "") ? Number(wanted.get(key)) : null);
    document.body.classList.toggle("embed", wanted.has("embed"));
    const as = number("as");
    seat = as !== null && data.seats[as] ? as : null;
    get("view").value = seat ?? "";
    pause();
    listLines();
    show(number("s") ?? 0);
  }

  // --- a larger board, which can be scrolled

  function zoom(larger, event) {
    const board = get("board");
    const box = board.getBoundingClientRect();
    const part = (value, start, size, scrolled, whole) => (value === undefined ? 0.5 : (value - start + scrolled) / (whole || size));
    const x = part(event?.clientX, box.left, box.width, board.scrollLeft, board.scrollWidth);
    const y = part(event?.clientY, box.top, box.height, board.scrollTop, board.scrollHeight);
    main.classList.toggle("larger", larger);
    get("zoom").setAttribute("aria-pressed", larger);
    board.scrollTo(x * board.scrollWidth - board.clientWidth / 2, y * board.scrollHeight - board.clientHeight / 2);
  }

  const isLarger = () => main.classList.contains("larger");

  // --- the board is as high as the window leaves room for below title and notices

  function measure() {
    main.style.setProperty("--above", `${main.offsetTop}px`);
    showLine();
  }

  // --- a frame tells the page around it how high this page is, and learns how much of it can be seen at once

  function tellHeight() {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    parent.postMessage({ event: "RESIZE", data: { height, shape } }, new URL(document.referrer).origin);
  }

  function takeScreen(message) {
    if (message.source !== parent || message.origin !== new URL(document.referrer).origin) return;
    const height = Number(message.data?.data?.height);
    if (message.data?.event !== "SCREEN" || !(height >= SCREEN.least && height <= SCREEN.most)) return;
    main.style.setProperty("--screen", `${Math.floor(height)}px`);
    showLine();
  }

  // --- keys

  const keys = {
    ArrowLeft: () => go(step - 1),
    ArrowRight: () => go(step + 1),
    "Shift ArrowLeft": () => round(-1),
    "Shift ArrowRight": () => round(1),
    "[": () => round(-1),
    "]": () => round(1),
    ",": () => turn(-1),
    ".": () => turn(1),
    Home: () => go(0),
    End: () => go(steps),
    " ": () => (timer === null ? play() : pause()),
    n: () => jump(1),
    p: () => jump(-1),
    f: () => look(seat === null ? 0 : seat + 1 < seats ? seat + 1 : null),
    z: () => zoom(!isLarger()),
    Escape: () => zoom(false),
    "?": () => {
      get("keys").open = !get("keys").open;
      if (get("keys").open) get("keys").scrollIntoView({ block: "nearest" });
    },
  };
  for (let digit = 0; digit < 10; digit++) keys[digit] = () => look(digit);

  function pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    const at = event.target.closest?.("select, input, button, summary, textarea");
    if (at?.matches("select, textarea")) return;
    if (at && (event.key === " " || event.key === "Enter")) return; // they press what has the focus
    const arrow = event.key === "ArrowLeft" || event.key === "ArrowRight";
    const action = keys[event.shiftKey && arrow ? `Shift ${event.key}` : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  // --- put together

  const onClick = {
    first: () => go(0),
    last: () => go(steps),
    back: () => go(step - 1),
    on: () => go(step + 1),
    play: () => (timer === null ? play() : pause()),
    "round-back": () => round(-1),
    "round-on": () => round(1),
    "mark-back": () => jump(-1),
    "mark-on": () => jump(1),
    zoom: () => zoom(!isLarger()),
  };
  for (const [id, action] of Object.entries(onClick)) get(id).addEventListener("click", action);
  for (const id of ["round-back", "round-on"]) get(id).hidden = data.rounds.length < 2;
  for (const [kind, list] of Object.entries(marks)) {
    const option = make("option", `${kind} (${list.length})`);
    option.value = kind;
    get("kind").append(option);
  }
  get("kind").value = marks.fault.length ? "fault" : "score";
  data.seats.forEach((_, own) => {
    const option = make("option", nameOf(own));
    option.value = own;
    get("view").append(option);
  });
  get("view").disabled = data.seats.length === 0;
  get("view").addEventListener("change", (event) => look(event.target.value === "" ? null : Number(event.target.value)));
  get("slider").max = steps;
  get("slider").addEventListener("input", (event) => go(Number(event.target.value)));
  get("codes").addEventListener("change", (event) => {
    get("log").classList.toggle("codes", event.target.checked);
    showLine();
  });
  get("words").addEventListener("toggle", sayBoard);
  get("board").addEventListener("dblclick", (event) => {
    getSelection().removeAllRanges(); // a double click selects a word of the picture
    zoom(!isLarger(), event);
  });
  if (parent !== window && document.referrer) {
    addEventListener("message", takeScreen);
    new ResizeObserver(tellHeight).observe(document.body);
  }
  get("board").setAttribute("aria-hidden", "true"); // its words are in a list of their own, and the live region tells each step
  for (const id of ["player", "log", "charts", "words", "keys"]) get(id).hidden = false;
  const [, , width, height] = pictureOf(steps >> 1, null).match(/ viewBox="([^"]*)"/)[1].split(" ");
  const shape = width / height;
  main.style.setProperty("--shape", shape); // one width for all steps, though some pictures are higher
  main.classList.add("ready");
  listLanes();
  addEventListener("resize", measure);
  addEventListener("hashchange", readPlace);
  addEventListener("keydown", pressed);
  readPlace();
  measure();
}

unpack(document.getElementById("payload").textContent)
  .then(start)
  .catch((error) => {
    const notice = make("p", `This browser cannot show the match step by step (${error.message}). The end of it is below.`, "notice");
    notice.setAttribute("role", "alert");
    document.querySelector("main").before(notice);
  });
