// Framed parts of the board can be clicked: a click narrows the list to the actions about that part; a single action left is played.
"use strict";
window.pointing = (main, choose, changed) => {
  const SVG = "http://www.w3.org/2000/svg";
  const FINGER = 24; // pixels: a smaller target is easily missed
  let spots = new Map(); // by button: the parts that its action is about, in the order in which the person points at them
  let pointed = []; // the parts at which the person has pointed

  const picture = () => main.querySelector(".board svg");
  const buttons = () => [...main.querySelectorAll(".choices [name=choice]")];
  const next = (button) => spots.get(button)[pointed.length];
  const allows = (button) => pointed.every((name, at) => spots.get(button)?.[at] === name);

  function begin(isNew) {
    if (isNew) pointed = [];
    spots = new Map(buttons().map((button) => [button, button.dataset.spots?.split(" ") ?? []]));
    const all = [...spots.values()].filter((names) => names.length);
    while (all.length > 1 && all.every((names) => names.length > 1 && names[0] === all[0][0])) all.forEach((names) => names.shift());
  }

  function frame(part, className) {
    const box = part.getBBox();
    const way = picture().getScreenCTM().inverse().multiply(part.getScreenCTM());
    const drawn = document.createElementNS(SVG, "g");
    drawn.setAttribute("class", className);
    for (const kind of ["rim", "line"]) {
      const rect = document.createElementNS(SVG, "rect");
      const sides = { x: way.a * box.x + way.e, y: way.d * box.y + way.f, width: way.a * box.width, height: way.d * box.height, rx: 4 };
      for (const [name, value] of Object.entries(sides)) rect.setAttribute(name, value);
      rect.setAttribute("class", kind);
      drawn.append(rect);
    }
    return { drawn, size: way.a * box.width * way.d * box.height };
  }

  function frames(names, className) {
    const found = [...picture().querySelectorAll("[data-spot]")].filter((part) => names.has(part.dataset.spot));
    return found.map((part) => {
      const made = frame(part, className);
      made.drawn.dataset.at = part.dataset.spot;
      return made;
    });
  }

  function layer(name) {
    picture().querySelector(`.${name}`)?.remove();
    const made = document.createElementNS(SVG, "g");
    made.setAttribute("class", name);
    picture().append(made);
    return made;
  }

  function show(visible) {
    const line = main.querySelector(".pointing");
    if (!picture() || !line) return;
    const open = new Map();
    for (const button of visible) if (next(button)) open.set(next(button), [...(open.get(next(button)) ?? []), button]);
    const found = [...frames(new Set(pointed), "spot pointed"), ...frames(open, "spot open")];
    found.sort((one, other) => other.size - one.size); // small frames lie on top of large ones
    for (const { drawn } of found) {
      const about = open.get(drawn.dataset.at) ?? [];
      const title = document.createElementNS(SVG, "title");
      title.textContent = about.length === 1 ? about[0].querySelector("span").textContent : about.length ? `${about.length} actions` : "Take this back";
      drawn.prepend(title);
    }
    layer("spots").append(...found.map(({ drawn }) => drawn));
    layer("hovered");
    const all = buttons().length;
    line.querySelector("span").textContent = pointed.length
      ? `${visible.length} of ${all} actions left: ${open.size ? "go on with what is framed" : "choose from the list"}.`
      : open.size ? "What is framed can be clicked." : "Choose from the list.";
    line.hidden = !all;
    line.querySelector("button").hidden = !pointed.length;
    if (pointed.length && !open.size) main.querySelector(".choices")?.scrollIntoView({ block: "nearest" });
  }

  function back(count) {
    pointed = pointed.slice(0, count);
    changed();
  }

  function point(spot, event) {
    const name = spot.dataset.at;
    if (!spot.matches(".open")) return back(pointed.lastIndexOf(name));
    const size = spot.getBoundingClientRect();
    const sure = event.pointerType !== "touch" || Math.min(size.width, size.height) >= FINGER;
    pointed = [...pointed, name];
    const left = buttons().filter(allows);
    if (sure && left.length === 1 && !next(left[0])) choose(left[0]);
    else changed();
  }

  main.addEventListener("click", (event) => {
    const spot = event.target.closest(".spot");
    if (spot) point(spot, event);
    if (event.target.closest(".pointing button")) back(0);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && pointed.length && !event.target.closest("input")) back(0);
  });

  function hover(target) {
    main.querySelectorAll(".choices .about").forEach((button) => button.classList.remove("about"));
    if (!picture()?.querySelector(".hovered")) return;
    const button = target?.closest(".choices [name=choice]");
    const names = new Set(button ? spots.get(button)?.slice(pointed.length) : []);
    layer("hovered").append(...frames(names, "").map(({ drawn }) => drawn));
    const spot = target?.closest(".spot.open");
    if (spot) for (const one of buttons()) one.classList.toggle("about", allows(one) && next(one) === spot.dataset.at);
  }

  main.addEventListener("pointerover", (event) => hover(event.target));
  main.addEventListener("focusin", (event) => hover(event.target));
  main.addEventListener("pointerleave", () => hover(null));

  return { begin, allows, show };
};
