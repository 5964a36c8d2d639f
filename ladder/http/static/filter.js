// Hides the other rows of a table while somebody types a name: `<form data-filter="ID">`. Without this, the form asks the server.
"use strict";
for (const form of document.querySelectorAll("form[data-filter]")) {
  const rows = document.querySelectorAll(`#${form.dataset.filter} tbody tr`);
  const input = form.querySelector("input[type=search]");
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLocaleLowerCase();
    for (const row of rows) {
      const names = [...row.querySelectorAll("bdi")].map((name) => name.textContent.toLocaleLowerCase());
      row.hidden = !names.some((name) => name.includes(wanted));
    }
  });
}
