// Follows a match: the server reports each change, and sends the picture that it has drawn. This page knows no rules.
"use strict";
(() => {
  const live = document.getElementById("live");
  const state = document.getElementById("state");
  const PARTS = ["heading", "board", "seats", "lines"];
  const SPOKEN_MS = 1000;
  const NEXT_MS = [10000, 120000]; // the first and the longest pause between two requests for another match
  let said = "";
  let fetching = null; // the request for the newest picture, while it is under way
  let isStale = false; // whether there has been another change meanwhile

  async function refresh() {
    do {
      isStale = false;
      const answer = await fetch(live.dataset.look).catch(() => null);
      if (answer?.ok) show(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } while (isStale);
    fetching = null;
  }

  function change() {
    isStale = true;
    fetching ??= refresh();
    return fetching;
  }

  function show(fresh) {
    for (const id of PARTS) document.getElementById(id).replaceChildren(...fresh.getElementById(id).childNodes);
    const last = document.querySelector("#lines li");
    if (last) said = `${last.value}: ${last.textContent}`;
  }

  // A screen reader reads the last action only, at most once a second.
  const speaking = setInterval(() => {
    if (said && said !== state.textContent) state.textContent = said;
  }, SPOKEN_MS);

  // Shows what remains at the end: the result, the page of the match, and another match to follow.
  function end(words, hasResult) {
    clearInterval(speaking);
    state.textContent = words;
    if (hasResult) {
      document.getElementById("heading").textContent = "The match is over.";
      document.getElementById("standing").textContent = "Standing at the end";
    }
    for (const row of document.getElementById("seats").rows) if (row.cells[4].textContent === "decides") row.cells[4].textContent = "";
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
  source.addEventListener("changed", change);
  source.addEventListener("over", async (event) => {
    source.close();
    await fetching;
    const over = JSON.parse(event.data);
    end(over.reason ?? over.result, over.reason === undefined);
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) leave();
    else said = "The connection is lost; it is tried again.";
  });
})();
