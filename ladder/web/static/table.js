// A table: answers without leaving the page, shows what is new, says it once, and lets keys choose.
"use strict";
(() => {
  const main = document.getElementById("main");
  const said = document.createElement("p");
  said.className = "unseen";
  said.setAttribute("role", "status");
  document.body.append(said);
  let leaving = false;
  const pointing = window.pointing(main, (button) => send(button.form, button), sieve);
  let ends = 0; // when the time for this decision is up, by performance.now()

  const table = () => main.querySelector(".table");
  const shown = () => [...main.querySelectorAll(".choices button")].filter((button) => !button.closest("[hidden]") && !button.hidden);

  function number() {
    main.querySelectorAll(".choices kbd").forEach((key) => key.remove());
    for (const [at, button] of shown().slice(0, 9).entries()) {
      const key = document.createElement("kbd");
      key.textContent = at + 1;
      button.prepend(key, " ");
    }
  }

  function sieve() {
    const words = (main.querySelector(".filter input")?.value ?? "").toLowerCase().split(/\s+/);
    for (const button of main.querySelectorAll(".choices button"))
      button.hidden = !pointing.allows(button) || !words.every((word) => button.textContent.toLowerCase().includes(word));
    for (const group of main.querySelectorAll(".choices fieldset")) group.hidden = !group.querySelector("button:not([hidden])");
    number();
    pointing.show(shown());
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

  function take(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.getElementById("main");
    if (!fresh) return;
    const decision = () => main.querySelector("[name=decision]")?.value;
    const before = decision();
    const typing = main.querySelector(".filter input");
    const typed = typing === document.activeElement && typing ? typing.value : null;
    main.replaceChildren(...document.importNode(fresh, true).childNodes);
    document.title = page.title;
    const isNew = decision() !== before || !decision();
    prepare(isNew);
    if (isNew) {
      const news = [...main.querySelectorAll(".log .new")].slice(0, 5).reverse().map((line) => line.textContent);
      said.textContent = [...[...main.querySelectorAll(".notice")].map((notice) => notice.textContent), ...news, main.querySelector("h1")?.textContent].join(". ");
      document.getElementById("turn")?.focus({ preventScroll: true });
    } else if (typed !== null) {
      const input = main.querySelector(".filter input");
      input.value = typed;
      input.focus();
      sieve();
    }
  }

  async function send(form, button) {
    if (form.dataset.sent) return;
    form.dataset.sent = "1";
    const fields = new URLSearchParams(new FormData(form));
    if (button?.name) fields.set(button.name, button.value);
    try {
      take(await (await fetch(form.action, { method: "POST", body: fields })).text());
    } catch {
      delete form.dataset.sent;
      said.textContent = "The server does not answer; try again.";
    }
  }

  async function listen() {
    while (!leaving) {
      const now = table();
      if (!now?.dataset.news) {
        await new Promise((done) => setTimeout(done, 1000));
        continue;
      }
      const seen = now.dataset.revision;
      try {
        const news = await fetch(`${now.dataset.news}?seen=${seen}`);
        if (leaving) return;
        if (news.status === 204) await new Promise((done) => setTimeout(done, 200));
        else if (table()?.dataset.revision === seen && !main.querySelector("[data-sent]")) take(await (await fetch(location.href)).text());
        if (news.status === 404 || news.status === 403) return;
        if (!news.ok) await new Promise((done) => setTimeout(done, 5000));
      } catch {
        await new Promise((done) => setTimeout(done, 3000));
      }
    }
  }

  main.addEventListener("submit", (event) => {
    leaving = !event.target.matches(".choices");
    if (leaving) return;
    event.preventDefault();
    if (event.submitter) send(event.target, event.submitter);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches(".filter input")) {
      event.preventDefault(); // else the form would be sent with its first button
      shown()[0]?.focus();
    }
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const button = /^[1-9]$/.test(event.key) ? shown()[event.key - 1] : null;
    if (button) {
      event.preventDefault();
      button.focus();
      send(button.form, button);
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
  listen();
})();
