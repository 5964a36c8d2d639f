// Refreshes the changed parts of a page while somebody is looking at it: `<main data-refresh="20">`, in seconds.
"use strict";
(() => {
  const main = document.getElementById("main");
  const seconds = Number(main.dataset.refresh);
  let tag = null;
  const scriptsOf = (page) => [...page.scripts].map((script) => script.getAttribute("src")).join();
  async function look() {
    if (document.visibilityState !== "visible" || main.contains(document.activeElement)) return;
    const answer = await fetch(location.href, { headers: tag ? { "If-None-Match": tag } : {} }).catch(() => null);
    if (answer === null || answer.status !== 200) return;
    tag = answer.headers.get("ETag");
    const seen = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (scriptsOf(seen) !== scriptsOf(document)) {
      location.reload(); // it is now a different page, such as the page of a match that has become visible
      return;
    }
    main.replaceChildren(...document.importNode(seen.getElementById("main"), true).childNodes);
    document.title = seen.title;
  }
  if (seconds) setInterval(look, seconds * 1000);
})();
