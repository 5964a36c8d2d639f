// Pictures of a match out of a payload: the other half of packing.py and payload.py, which say how they are written.
// Nothing here touches the page, so a test can run it without one.
"use strict";

async function unpack(text) {
  const plain = new Blob([fromBase85(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(plain).text());
  const words = readTexts(data.words);
  data.texts = words.splice(data.tokens);
  data.tokens = words;
  [data.public, ...data.seats] = readViews(data.views);
  [data.log, ...data.logs] = data.logs.map(readLog);
  data.clocks = readClocks(data.clocks);
  return data;
}

function fromBase85(text) {
  const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%:()*+-;,=.?@^_`{|}~";
  const values = new Map([...letters].map((letter, value) => [letter, value]));
  const groups = Math.ceil(text.length / 5);
  const view = new DataView(new ArrayBuffer(4 * groups));
  for (let group = 0; group < groups; group++) {
    let number = 0;
    for (let at = 5 * group; at < 5 * group + 5; at++) number = number * 85 + (values.get(text[at]) ?? 84);
    view.setUint32(4 * group, number);
  }
  return view.buffer.slice(0, Math.floor((text.length * 4) / 5));
}

function readNumbers(column) {
  return Array.from(column, (letter) => {
    const code = letter.codePointAt(0);
    return code < 0xd800 ? code - 0x20 : code - 0x820;
  });
}

// Reads numbers of a table in which everything stands in the order of its first use.
function makeUses(used = 0) {
  return (written) => (written ? written - 1 : used++);
}

function readTexts({ tags, phrases, numbers, tag, phrase }) {
  const parts = phrases.map((words) => words.split("\x7f"));
  const frames = tags.map((frame) => frame.split("\x7f"));
  const columns = numbers.map((column) => readNumbers(column).values());
  const last = parts.map((words) => Array(words.length - 1).fill(0));
  const [tagUses, phraseUses] = [makeUses(), makeUses()];
  const tagOf = readNumbers(tag);
  return readNumbers(phrase).map((written, index) => {
    const at = phraseUses(written);
    const [before, after] = frames[tagUses(tagOf[index])];
    let words = parts[at][0];
    last[at].forEach((value, hole) => {
      const number = columns[at].next().value;
      last[at][hole] = value + (number % 2 ? -(number + 1) / 2 : number / 2);
      words += last[at][hole] + parts[at][hole + 1];
    });
    return before + words + after;
  });
}

function readViews(views) {
  const readers = views.map(makeSpliceReader);
  const splices = views.map(() => []);
  const steps = [...views[0].counts].length;
  let tokens = new Uint32Array();
  for (let step = 0; step < steps; step++) {
    splices[0].push(readers[0](tokens));
    tokens = splice(tokens, splices[0][step]);
    for (let view = 1; view < views.length; view++) splices[view].push(readers[view](tokens));
  }
  return splices;
}

function makeSpliceReader(columns) {
  const next = {};
  for (const name of ["counts", "keeps", "places", "drops", "inserts", "tokens"]) {
    const numbers = readNumbers(columns[name]);
    let at = 0;
    next[name] = () => numbers[at++];
  }
  const use = makeUses(columns.used);
  const known = new Map();
  let change = [];
  return (before) => {
    const count = next.counts();
    if (!count) return change;
    change = [];
    for (let edit = 1, at = 0; edit < count; edit++) {
      const keep = next.keeps();
      at += keep;
      if (!known.has(before[at])) known.set(before[at], []);
      const same = known.get(before[at]);
      const place = next.places();
      let [drop, inserted] = place ? same.splice(place - 1, 1)[0] : [next.drops(), null];
      inserted ??= Array.from({ length: next.inserts() }, () => use(next.tokens()));
      same.unshift([drop, inserted]);
      change.push(keep, drop, inserted.length, ...inserted);
      at += drop;
    }
    return change;
  };
}

function readLog({ used, counts, texts }) {
  const use = makeUses(used);
  const numbers = readNumbers(texts);
  let at = 0;
  return readNumbers(counts).map(
    (count) => count && numbers.slice(at, (at += count)).map((text) => (text ? use(text - 1) : -1)),
  );
}

function readClocks([steps, seats, milliseconds, changes]) {
  const had = {};
  let step = 0;
  return steps.map((gap, index) => {
    const seat = seats[index];
    had[seat] = (had[seat] ?? 0) + changes[index];
    return [(step += gap), seat, milliseconds[index], had[seat] / 10];
  });
}

function splice(before, change) {
  let length = before.length;
  for (let place = 0; place < change.length; place += 3 + change[place + 2]) length += change[place + 2] - change[place + 1];
  const after = new Uint32Array(length);
  let at = 0;
  let to = 0;
  for (let place = 0; place < change.length; ) {
    const [keep, drop, insert] = [change[place], change[place + 1], change[place + 2]];
    after.set(before.subarray(at, at + keep), to);
    at += keep + drop;
    to += keep;
    for (let end = (place += 3) + insert; place < end; place++) after[to++] = change[place];
  }
  after.set(before.subarray(at), to);
  return after;
}

// Any picture without playing from the start: every 64th list of tokens that was passed is kept.
function makePictures(data) {
  const kept = new Map([[-1, new Uint32Array()]]);
  let last = -1;
  let lastTokens = kept.get(-1);

  function publicTokens(step) {
    if (last > step || step - last > 64) {
      last = step;
      while (last >= 0 && !kept.has(last)) last--;
      lastTokens = kept.get(last);
    }
    while (last < step) {
      last++;
      lastTokens = splice(lastTokens, data.public[last]);
      if (last % 64 === 0) kept.set(last, lastTokens);
    }
    return lastTokens;
  }

  return (step, seat) => {
    let tokens = publicTokens(step);
    if (seat !== null) tokens = splice(tokens, data.seats[seat][step]);
    return Array.from(tokens, (token) => data.tokens[token]).join("");
  };
}
