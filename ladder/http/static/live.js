// Follows a match: a whole picture first, then what changes of it. The server has drawn everything; this page knows no rules.
"use strict";
(() => {
  const live = document.getElementById("live");
  const board = document.getElementById("board");
  const lines = document.getElementById("lines");
  const state = document.getElementById("state");
  const rows = document.getElementById("seats").rows;
  const MOST_LINES = 200;
  const SPOKEN_MS = 1000;
  const NEXT_MS = [10000, 120000]; // the first pause between two questions for another match, and the longest
  let tokens = [];
  let said = "";

  // [keep, drop, [tokens to insert], keep, drop, ...]; what is left is kept.
  function changed(before, change) {
    const after = [];
    let at = 0;
    for (let place = 0; place < change.length; place += 3) {
      const [keep, drop, inserted] = change.slice(place, place + 3);
      after.push(...before.slice(at, at + keep), ...inserted);
      at += keep + drop;
    }
    return after.concat(before.slice(at));
  }

  function show(now) {
    const drawn = new DOMParser().parseFromString(tokens.join(""), "image/svg+xml").documentElement;
    if (drawn.nodeName === "svg") board.replaceChildren(document.importNode(drawn, true));
    document.getElementById("heading").textContent = now.heading;
    now.seats.forEach(([place, score, thought, doing], seat) => {
      const cells = rows[seat].cells;
      cells[0].textContent = place;
      cells[2].textContent = score;
      cells[3].textContent = `${thought.toFixed(1)} s`;
      cells[4].textContent = doing;
    });
    for (const [number, seat, text] of now.lines) {
      const item = document.createElement("li");
      const who = document.createElement("b");
      item.value = number;
      who.textContent = `seat ${seat}`;
      item.append(who, ` ${text}`);
      lines.prepend(item);
    }
    while (lines.children.length > MOST_LINES) lines.lastElementChild.remove();
    const last = now.lines.at(-1);
    if (last) said = `${last[0]}: seat ${last[1]} ${last[2]}`;
  }

  // A screen reader is told the last action only, at most once a second.
  const speaking = setInterval(() => {
    if (said && said !== state.textContent) state.textContent = said;
  }, SPOKEN_MS);

  // What is left to do when nothing happens any more: the result, the page of the match, and another match to follow.
  function end(words, hasResult) {
    clearInterval(speaking);
    state.textContent = words;
    if (hasResult) {
      document.getElementById("heading").textContent = "The match is over.";
      document.getElementById("standing").textContent = "Standing at the end";
    }
    for (const row of rows) if (row.cells[4].textContent === "decides") row.cells[4].textContent = "";
    document.getElementById("after").hidden = false;
    findNext(NEXT_MS[0]);
  }

  async function findNext(pause) {
    const isSeen = document.visibilityState === "visible";
    const answer = isSeen ? await fetch(live.dataset.playing).catch(() => null) : null;
    const found = answer?.ok ? (await answer.json()).matches ?? [] : [];
    const others = found.filter((one) => !live.dataset.match.endsWith(one.match));
    const next = others.find((one) => one.game === live.dataset.game) ?? others[0];
    if (!next) {
      setTimeout(findNext, pause, isSeen ? Math.min(2 * pause, NEXT_MS[1]) : pause);
      return;
    }
    const link = document.getElementById("next");
    link.href = `../${encodeURIComponent(next.match)}/live`;
    link.textContent = `Next match: ${next.bots.join(", ")}`;
    link.hidden = false;
  }

  const source = new EventSource(live.dataset.events);
  const leave = () => { location.href = live.dataset.match; };
  source.addEventListener("whole", (event) => {
    const now = JSON.parse(event.data);
    tokens = now.picture;
    lines.replaceChildren();
    show(now);
  });
  source.addEventListener("more", (event) => {
    const now = JSON.parse(event.data);
    tokens = changed(tokens, now.change);
    show(now);
  });
  source.addEventListener("over", (event) => {
    source.close();
    const over = JSON.parse(event.data);
    end(over.reason ?? over.result, over.reason === undefined);
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) leave();
    else said = "The connection is lost; it is tried again.";
  });
})();
