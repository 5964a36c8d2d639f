// The viewer in its frame: as high as it needs, and at the moment that the address of the page names (#s=214&as=2).
"use strict";
(() => {
  const frame = document.getElementById("viewer");
  if (!frame) return;
  const place = frame.src.replace(/#.*/, "");
  function show(fragment) {
    frame.src = place + "#embed&" + fragment;
    frame.contentWindow?.location.replace(frame.src);
  }
  function showMoment() {
    if (/^#s=\d+(&as=\d+)?$/.test(location.hash)) show(location.hash.slice(1));
  }
  addEventListener("message", (message) => {
    if (message.origin !== location.origin || message.source !== frame.contentWindow) return;
    const height = Number(message.data?.data?.height);
    if (message.data?.event === "RESIZE" && height > 0 && height < 20000) frame.height = Math.ceil(height);
  });
  for (const link of document.querySelectorAll("a.moment")) {
    link.addEventListener("click", (click) => {
      if (click.ctrlKey || click.metaKey || click.shiftKey || click.altKey) return;
      click.preventDefault();
      history.replaceState(null, "", link.hash);
      showMoment();
      frame.scrollIntoView({ block: "nearest" });
    });
  }
  addEventListener("hashchange", showMoment);
  showMoment();
})();
