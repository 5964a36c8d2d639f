// Shows anew what has changed, as long as somebody looks: `<main data-refresh="20">`, in seconds.
"use strict";
(() => {
  const main = document.getElementById("main");
  const seconds = Number(main.dataset.refresh);
  let tag = null;
  async function look() {
    if (document.visibilityState !== "visible" || main.contains(document.activeElement)) return;
    const answer = await fetch(location.href, { headers: tag ? { "If-None-Match": tag } : {} }).catch(() => null);
    if (answer === null || answer.status !== 200) return;
    tag = answer.headers.get("ETag");
    const seen = new DOMParser().parseFromString(await answer.text(), "text/html");
    main.replaceChildren(...document.importNode(seen.getElementById("main"), true).childNodes);
    document.title = seen.title;
  }
  if (seconds) setInterval(look, seconds * 1000);
})();
