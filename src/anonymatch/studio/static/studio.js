// What only the browser can do: themes, pictures as PNG, copying, and sending a dropped file.
window.studio = (() => {
  const root = document.documentElement;
  const themes = ["", "light", "dark"];
  const words = { "": "as the system", light: "light", dark: "dark" };

  function apply(theme) {
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
    for (const button of document.querySelectorAll(".theme")) {
      button.setAttribute("aria-label", `Colours: ${words[theme]}. Change`);
      button.title = `Colours: ${words[theme]}`;
    }
  }

  function stored() {
    try {
      const theme = localStorage.getItem("anonymatch-theme") || "";
      return themes.includes(theme) ? theme : "";
    } catch {
      return "";
    }
  }

  function nextTheme() {
    const theme = themes[(themes.indexOf(stored()) + 1) % themes.length];
    try {
      localStorage.setItem("anonymatch-theme", theme);
    } catch {
      // a browser that stores nothing keeps the theme for this page only
    }
    apply(theme);
  }

  function give(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function png(svg, width, height, name) {
    const image = new Image();
    const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = Math.ceil(2 * width);
      canvas.height = Math.ceil(2 * height);
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(url);
      canvas.toBlob((blob) => give(blob, name), "image/png");
    };
    image.src = url;
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }

  // Users are circles, behaviours are squares; a user's name stands beside the circle. Points of a
  // chart say themselves what they are.
  function picked(emit) {
    return (event) => {
      const point = event.target.closest("[data-pick]");
      if (point) {
        emit(point.dataset.pick);
        return;
      }
      const group = event.target.closest("g");
      if (!group || !group.querySelector("circle")) return;
      const name = group.querySelector("text");
      if (name) emit((name.firstChild?.tagName === "title" ? name.lastChild : name).textContent);
    };
  }

  // The name of the mark of a chart that is chosen; "" if none is.
  function chosen(detail) {
    const names = Object.entries(detail || {}).find(([key]) => key !== "vlPoint");
    return names && Array.isArray(names[1]) ? String(names[1][0] ?? "") : "";
  }

  async function send(file, target, slot, more, say) {
    const place = `${target}?slot=${slot}&more=${more}&name=${encodeURIComponent(file.name)}`;
    try {
      const answer = await fetch(place, { method: "POST", body: file });
      if (!answer.ok) say(await answer.text());
    } catch {
      say("the file could not be sent; is the studio still running?");
    }
  }

  function dropped(target, slot, limit) {
    return (event) => {
      event.preventDefault();
      const zone = event.currentTarget;
      zone.classList.remove("over");
      const files = event.dataTransfer ? event.dataTransfer.files : event.target.files;
      const say = (text) => {
        zone.closest(".drop").querySelector(".said").textContent = text;
      };
      say("");
      const given = Array.from(files).slice(0, limit.several);
      if (event.target.files) event.target.value = "";
      const wanted = given.filter((file) => file.size <= limit.bytes);
      if (wanted.length < given.length) say(limit.words);
      wanted.reduce(
        (before, file, at) => before.then(() => send(file, target, slot, at < wanted.length - 1, say)),
        Promise.resolve());
    };
  }

  // The ends of a range of a report's table, null for all; the chart above it has the same as a brush.
  function ranged(emit) {
    return (event) => emit(event.detail);
  }

  // A user's name is the first cell of a row.
  function row(emit) {
    return (event) => {
      const row = event.target.closest("tbody tr");
      if (row && !event.target.closest("button")) emit(row.cells[0].textContent.trim());
    };
  }

  function show(place) {
    document.querySelector(place)?.scrollIntoView({ block: "start" });
  }

  function small(words, label, act) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button quiet";
    button.textContent = words;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
    return button;
  }

  async function standalone(svg) {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = await (await fetch("/studio/picture.css")).text();
    copy.prepend(style);
    return new XMLSerializer().serializeToString(copy);
  }

  function csv(table) {
    const quoted = (cell) => `"${cell.textContent.trim().replace(/"/g, '""')}"`;
    return Array.from(table.rows, (row) => Array.from(row.cells, quoted).join(",")).join("\n") + "\n";
  }

  // Set the range of a report's table, as the reader would by typing; null for an open end.
  function setRange(ends) {
    const fields = Array.from(document.querySelectorAll(".sections .range input"));
    fields.forEach((field, at) => {
      field.value = ends?.[at] ?? "";
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    fields[0]?.dispatchEvent(new Event("change", { bubbles: true }));
  }

  // Pictures and tables of reports come without buttons: give them some, once. ``ends`` is the range
  // of its table that an address has.
  function outfit(ends) {
    if (document.querySelector(".sections table.sortable:not([data-ready])")) {
      for (const table of document.querySelectorAll(".sections table.sortable")) table.dataset.ready = "";
      const script = document.createElement("script");
      script.src = "/studio/table.js";
      if (ends) script.addEventListener("load", () => setRange(ends));
      document.body.append(script);
    }
    for (const svg of document.querySelectorAll(".sections figure svg.picture, .claim figure svg.picture")) {
      const figure = svg.closest("figure");
      if (figure.querySelector(".saves")) continue;
      const title = svg.querySelector("title")?.textContent || "picture";
      const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60);
      const saves = document.createElement("span");
      saves.className = "saves";
      saves.append(
        small("SVG", `Save ${title} as SVG`, async () =>
          give(new Blob([await standalone(svg)], { type: "image/svg+xml" }), `${name}.svg`)),
        small("PNG", `Save ${title} as PNG`, async () => {
          const box = svg.viewBox.baseVal;
          png(await standalone(svg), box.width, box.height, `${name}.png`);
        }),
      );
      (figure.querySelector("figcaption") || figure).append(saves);
    }
    for (const scroll of document.querySelectorAll(".sections .scroll, .claim .scroll")) {
      const table = scroll.querySelector("table");
      if (!table || scroll.nextElementSibling?.classList.contains("as-csv")) continue;
      const name = scroll.getAttribute("aria-label") || "table";
      const button = small("Save as CSV", `Save ${name} as CSV`, () =>
        give(new Blob([csv(table)], { type: "text/csv" }),
          `${name.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 60)}.csv`));
      button.classList.add("as-csv");
      scroll.after(button);
    }
  }

  // The slider and the number beside it show the same.
  document.addEventListener("input", (event) => {
    const pair = event.target.closest(".pair");
    if (!pair) return;
    for (const input of pair.querySelectorAll("input")) {
      if (input !== event.target) input.value = event.target.value;
    }
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest(".theme")) nextTheme();
  });
  apply(stored());
  window.addEventListener("load", () => apply(stored()));
  return { png, copy, picked, chosen, dropped, ranged, row, show, outfit };
})();
