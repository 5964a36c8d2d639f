// Pictures of a match out of a payload: the other half of payload.py, which says how they are written.
// Nothing here touches the page, so a test can run it without one.
"use strict";

async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(plain).text());
}

function splice(before, change) {
  const after = [];
  let at = 0;
  for (let place = 0; place < change.length; ) {
    const [keep, drop, insert] = [change[place], change[place + 1], change[place + 2]];
    for (let end = at + keep; at < end; at++) after.push(before[at]);
    at += drop;
    for (let end = place + 3 + insert, next = place + 3; next < end; next++) after.push(change[next]);
    place += 3 + insert;
  }
  for (; at < before.length; at++) after.push(before[at]);
  return after;
}

// Any picture without playing from the start: every 64th list of tokens that was passed is kept.
function makePictures(data) {
  const kept = new Map([[-1, []]]);
  let last = -1;
  let lastTokens = [];

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
    if (seat !== null) {
      const changes = data.seats[seat];
      while (changes[step] === 0) step--;
      tokens = splice(tokens, changes[step]);
    }
    return tokens.map((token) => data.tokens[token]).join("");
  };
}
