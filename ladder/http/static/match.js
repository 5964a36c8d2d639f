// Fits the frame of the viewer to its content, and its board to the window; shows the moment that the address of the page names
// (#s=214&as=2).
"use strict";
(() => {
  const frame = document.getElementById("viewer");
  if (!frame) return;
  const place = frame.src.replace(/#.*/, "");
  const isLoaded = () => frame.contentDocument?.URL.startsWith(place);
  let moment = "";
  function show(fragment) {
    moment = place + "#embed&" + fragment;
    // One navigation, never two: a second one could stop the loading that the first has begun.
    if (isLoaded()) frame.contentWindow.location.replace(moment);
    else frame.src = moment;
  }
  frame.addEventListener("load", () => {
    // If a load was under way when a moment was named, it can still end at the previous moment.
    if (moment && isLoaded()) frame.contentWindow.location.replace(moment);
  });
  function showMoment() {
    if (!/^#s=\d+(&as=\d+)?$/.test(location.hash)) return;
    show(location.hash.slice(1));
    frame.scrollIntoView();
  }
  function tellScreen() {
    frame.contentWindow.postMessage({ event: "SCREEN", data: { height: innerHeight } }, location.origin);
  }
  addEventListener("message", (message) => {
    if (message.origin !== location.origin || message.source !== frame.contentWindow) return;
    const { height, shape } = message.data?.data ?? {};
    if (message.data?.event !== "RESIZE" || !(height > 0 && height < 20000)) return;
    frame.height = Math.ceil(height);
    if (shape > 0.1 && shape < 10) frame.style.setProperty("--shape", shape); // for printing
    tellScreen();
  });
  addEventListener("resize", tellScreen);
  tellScreen(); // the message of a viewer that was ready before this script has been missed
  for (const link of document.querySelectorAll("a.moment")) {
    link.addEventListener("click", (click) => {
      if (click.ctrlKey || click.metaKey || click.shiftKey || click.altKey) return;
      click.preventDefault();
      history.replaceState(null, "", link.hash);
      showMoment();
    });
  }
  addEventListener("hashchange", showMoment);
  showMoment();
})();
