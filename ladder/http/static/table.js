// A table: sends answers without leaving the page, shows news and announces it once, and lets keys choose.
"use strict";
(() => {
  const main = document.getElementById("main");
  const FRESH = 300; // milliseconds for which a newly drawn list takes no click: the click was meant for the previous list
  const PAUSE = 250; // the minimum in milliseconds between two requests for news
  const WAITED = 400; // milliseconds: if a response takes longer, the server has waited for news, which it does for less than a second
  const THOUGHT = [1000, 8000]; // milliseconds: the first and the longest pause while the person thinks; each is twice the previous one
  const said = document.createElement("p");
  said.className = "unseen";
  said.setAttribute("role", "status");
  document.body.append(said);
  let leaving = false;
  let sending = null; // an answer that is on its way
  let waiting = new AbortController(); // ends a request for news
  let drawing = 0;
  let settling = 0;
  const pointing = window.pointing(main, choose, sieve);
  let ends = 0; // the time at which this decision is due, by performance.now()

  const table = () => main.querySelector(".table");
  const list = () => main.querySelector(".choices");
  const entry = (button) => button.closest("details") ?? button;
  const visible = () => [...main.querySelectorAll(".choices [name=choice]")].filter((button) => !entry(button).hidden);
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  function number() {
    main.querySelectorAll(".choices kbd").forEach((key) => key.remove());
    const keys = { open: "123456789".split(""), closing: ["0"] };
    for (const button of visible()) {
      const place = entry(button);
      const text = (place === button ? keys.open : keys.closing).shift();
      if (!text) continue;
      const key = document.createElement("kbd");
      key.textContent = text;
      (place === button ? button : place.querySelector("summary")).prepend(key, " ");
    }
  }

  function sieve() {
    const words = (main.querySelector(".filter input")?.value ?? "").toLowerCase().split(/\s+/);
    for (const button of main.querySelectorAll(".choices [name=choice]")) {
      const text = (entry(button).querySelector("summary") ?? button).textContent.toLowerCase();
      entry(button).hidden = !pointing.allows(button) || !words.every((word) => text.includes(word));
    }
    for (const group of main.querySelectorAll(".choices fieldset")) group.hidden = !group.querySelector("button:not([hidden])");
    number();
    pointing.show(visible());
  }

  function prepare(isNew) {
    pointing.begin(isNew);
    const left = main.querySelector("[data-left]");
    ends = left ? performance.now() + Number(left.dataset.left) * 1000 : 0;
    const filter = main.querySelector(".filter");
    if (filter) {
      filter.hidden = false;
      filter.querySelector("input").addEventListener("input", sieve);
    }
    sieve();
  }

  // The time begins with the frame that shows the list: a busy machine may draw it late.
  function settle() {
    cancelAnimationFrame(drawing);
    clearTimeout(settling);
    list()?.setAttribute("data-fresh", "");
    drawing = requestAnimationFrame(() => {
      settling = setTimeout(() => list()?.removeAttribute("data-fresh"), FRESH);
    });
  }

  // Returns a function that puts the next page into the state in which the person has left this one.
  function restorer(isNew) {
    const board = main.querySelector(".board");
    const focused = document.activeElement;
    const before = {
      left: board?.scrollLeft ?? 0,
      top: main.querySelector(".list")?.scrollTop ?? 0,
      leaving: main.querySelector(".leave")?.open,
      place: main.querySelector(".list")?.getBoundingClientRect().top,
      isFresh: list()?.hasAttribute("data-fresh"),
      sure: [...main.querySelectorAll(".choices .sure[open] button")].map((button) => button.value),
      typed: main.querySelector(".filter input")?.value ?? "",
      isTyping: Boolean(focused?.matches(".filter input")),
      choice: focused?.closest(".choices") ? (focused.value ?? "") : null,
    };
    return () => {
      if (board) main.querySelector(".board").scrollLeft = before.left;
      if (before.leaving) main.querySelector(".leave")?.setAttribute("open", "");
      if (isNew()) {
        settle();
        document.getElementById("turn")?.focus({ preventScroll: true });
        return;
      }
      const buttons = [...main.querySelectorAll(".choices [name=choice]")];
      for (const button of buttons) if (before.sure.includes(button.value)) entry(button).open = true;
      const input = main.querySelector(".filter input");
      if (input && before.typed) {
        input.value = before.typed;
        sieve();
      }
      if (main.querySelector(".list")) main.querySelector(".list").scrollTop = before.top;
      if (before.isFresh || main.querySelector(".list")?.getBoundingClientRect().top !== before.place) settle();
      const held = before.isTyping ? input : before.choice === null ? null : (buttons.find((button) => button.value === before.choice) ?? document.getElementById("turn"));
      held?.focus({ preventScroll: true });
    };
  }

  function take(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.getElementById("main");
    if (!fresh) return;
    const decision = () => main.querySelector("[name=decision]")?.value;
    const before = decision();
    const isNew = () => decision() !== before || !decision();
    const restore = restorer(isNew);
    main.replaceChildren(...document.importNode(fresh, true).childNodes);
    document.title = page.title;
    prepare(isNew());
    restore();
    if (!isNew()) return;
    const news = [...main.querySelectorAll(".since li:not(.own)")].slice(0, 5).reverse().map((line) => line.textContent);
    said.textContent = [...[...main.querySelectorAll(".notice")].map((notice) => notice.textContent), ...news, main.querySelector("h1")?.textContent].join(". ");
  }

  function choose(button) {
    const asks = button.closest("details");
    if (asks && !asks.open) {
      asks.open = true;
      button.focus();
    } else send(button.form, button);
  }

  async function send(form, button) {
    if (sending) return;
    form.dataset.sent = "1";
    waiting.abort();
    const fields = new URLSearchParams(new FormData(form));
    if (button.name) fields.set(button.name, button.value);
    sending = fetch(form.action, { method: "POST", body: fields }).then((answer) => {
      if (answer.status === 429 || answer.status >= 500) throw new Error(answer.statusText); // its page is not the page of a table
      return answer.text();
    });
    try {
      take(await sending);
    } catch {
      delete form.dataset.sent;
      said.textContent = "The server did not take your answer; try again.";
    } finally {
      sending = null;
    }
  }

  async function listen() {
    let next = THOUGHT[0];
    let question = null;
    while (!leaving) {
      await pause(PAUSE);
      if (leaving) return; // somebody left during the pause, when there was no request to abort
      const now = table();
      if (sending || !now?.dataset.news) {
        await sending?.catch(() => null);
        continue;
      }
      if (now.dataset.question !== question) next = THOUGHT[0];
      question = now.dataset.question;
      waiting = new AbortController();
      const began = performance.now();
      try {
        const query = new URLSearchParams({ seen: now.dataset.revision, question });
        const news = await fetch(`${now.dataset.news}?${query}`, { signal: waiting.signal });
        const text = await news.text();
        if (leaving) return;
        if ((news.ok || news.status === 404) && text && !sending && table() === now) take(text);
        if (news.status === 404 || news.status === 403) return;
        if (news.ok && !list() && performance.now() - began > WAITED) continue; // others act
      } catch {
        if (waiting.signal.aborted) continue;
      }
      if (table()?.dataset.question !== question) continue;
      await Promise.race([pause(next), new Promise((done) => waiting.signal.addEventListener("abort", done))]);
      next = Math.min(2 * next, THOUGHT[1]);
    }
  }

  main.addEventListener("click", (event) => {
    if (!main.querySelector("[data-fresh]") || !event.target.closest(".choices button, .choices summary, .spot")) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);

  main.addEventListener("submit", (event) => {
    leaving = !event.target.matches(".choices");
    if (leaving) {
      waiting.abort(); // there is no table to ask for news any more
      return;
    }
    event.preventDefault();
    if (event.submitter) send(event.target, event.submitter);
  });

  function keyed(key) {
    if (!document.activeElement?.closest(".choices") || main.querySelector("[data-fresh]")) return null;
    return visible().find((button) => entry(button).querySelector("kbd")?.textContent === key);
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches(".filter input")) {
      event.preventDefault(); // otherwise the form would be sent with its first button
      visible()[0]?.focus();
    }
    if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const button = /^[0-9]$/.test(event.key) ? keyed(event.key) : null;
    if (button) {
      event.preventDefault();
      button.focus();
      choose(button);
    } else if (event.key === "/" && main.querySelector(".filter input")) {
      event.preventDefault();
      main.querySelector(".filter input").focus();
    }
  });

  setInterval(() => {
    const left = main.querySelector("[data-left]");
    if (!left) return;
    const seconds = Math.max(0, Math.floor((ends - performance.now()) / 1000));
    const two = (number) => String(number % 60).padStart(2, "0");
    const minutes = Math.floor(seconds / 60);
    left.textContent = minutes < 60 ? `${minutes}:${two(seconds)}` : `${Math.floor(minutes / 60)}:${two(minutes)}:${two(seconds)}`;
    left.parentElement.classList.toggle("short", seconds < 20);
  }, 500);

  prepare(true);
  settle();
  if (list()) document.getElementById("turn").focus({ preventScroll: true });
  listen();
})();
