// Asks again for a viewer that is being drawn: `<main data-again="3">`, in seconds. The part after the # stays.
"use strict";
(() => {
  const seconds = Number(document.getElementById("main").dataset.again);
  if (seconds) setTimeout(() => location.reload(), seconds * 1000);
})();
