// Pictures of a match out of a payload, which payload.py and story.py write.
// Nothing here touches the page, so a test can run it without one.
"use strict";

async function unpack(text) {
  const gzip = new DecompressionStream("gzip"); // fed directly: a blob would come from another process, which may keep it waiting
  const writer = gzip.writable.getWriter();
  for (const done of [writer.write(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))), writer.close()]) done.catch(() => {}); // the reader below fails, too
  const data = JSON.parse(await new Response(gzip.readable).text());
  for (const splices of data.seats) splices.forEach((change, step) => (splices[step] = change ?? splices[step - 1]));
  let step = 0;
  const [gaps, seats, milliseconds, left] = data.clocks;
  data.clocks = gaps.map((gap, index) => [(step += gap), seats[index], milliseconds[index], left[index]]);
  return data;
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

// Any picture without playing from the start: every 64th list of tokens that was passed is cached.
function makePictures(data) {
  const cached = new Map([[-1, new Uint32Array()]]);
  let last = -1;
  let lastTokens = cached.get(-1);

  function publicTokens(step) {
    if (last > step || step - last > 64) {
      last = step;
      while (last >= 0 && !cached.has(last)) last--;
      lastTokens = cached.get(last);
    }
    while (last < step) {
      last++;
      lastTokens = splice(lastTokens, data.public[last]);
      if (last % 64 === 0) cached.set(last, lastTokens);
    }
    return lastTokens;
  }

  return (step, seat) => {
    let tokens = publicTokens(step);
    if (seat !== null) tokens = splice(tokens, data.seats[seat][step]);
    return Array.from(tokens, (token) => data.tokens[token]).join("");
  };
}
