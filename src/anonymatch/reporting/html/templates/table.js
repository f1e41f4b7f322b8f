"use strict";
document.querySelectorAll("table.sortable").forEach(function (table) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const heads = Array.from(table.tHead.rows[0].cells);
  const words = new Intl.Collator(undefined, { numeric: true });

  function number(cell) {
    return parseFloat(cell.textContent.replace(/[,>\s]/g, ""));
  }

  // What is not known comes last, up or down.
  function compare(one, other, numeric) {
    if (!numeric) return words.compare(one, other);
    if (Number.isNaN(one)) return Number.isNaN(other) ? 0 : Infinity;
    return Number.isNaN(other) ? -Infinity : one - other;
  }

  function sort(head, place) {
    const numeric = head.classList.contains("number");
    const now = head.getAttribute("aria-sort");
    const down = now ? now === "ascending" : numeric;
    heads.forEach(function (each) { each.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = rows.map(function (row) {
      const cell = row.cells[place];
      return { row: row, key: numeric ? number(cell) : cell.textContent };
    });
    keyed.sort(function (one, other) {
      const found = compare(one.key, other.key, numeric);
      return down ? (Number.isFinite(found) ? -found : found) : found;
    });
    const sorted = document.createDocumentFragment();
    keyed.forEach(function (each) { sorted.append(each.row); });
    body.append(sorted);
  }

  heads.forEach(function (head, place) {
    const button = document.createElement("button");
    button.type = "button";
    button.append.apply(button, Array.from(head.childNodes));
    head.append(button);
    button.addEventListener("click", function () { sort(head, place); });
  });

  const search = document.querySelector("[data-searches='" + table.id + "']");
  if (!search) return;
  const field = search.querySelector("input[type=search]");
  const found = search.querySelector("output");
  const texts = rows.map(function (row) {
    return (row.cells[0].textContent + "\n" + row.cells[1].textContent).toLowerCase();
  });

  // A range of one column: two fields, and a chart on which the same is chosen by a brush.
  const range = search.querySelector(".range");
  const ends = range ? Array.from(range.querySelectorAll("input")) : [];
  const clear = range && range.querySelector("button");
  const chosen = document.createElement("p"); /* under the chart, as the table may be far */
  chosen.className = "chosen";
  const values = range && rows.map(function (row) { return number(row.cells[range.dataset.column]); });
  function limits() {
    return [[ends[0], -Infinity], [ends[1], Infinity]].map(function (pair) {
      const value = pair[0] ? pair[0].valueAsNumber : NaN;
      return Number.isNaN(value) ? pair[1] : value;
    });
  }

  // Whoever shows this page within another one may follow the range.
  let before = null;
  function tell(ends) {
    if (String(ends) === String(before)) return;
    before = ends;
    const finite = ends && ends.map(function (end) { return Number.isFinite(end) ? end : null; });
    search.dispatchEvent(new CustomEvent("table-range", {bubbles: true, detail: finite}));
  }

  function filter() {
    const wanted = field.value.trim().toLowerCase();
    const low = limits()[0], high = limits()[1];
    const all = low === -Infinity && high === Infinity;
    let left = 0;
    rows.forEach(function (row, place) {
      const inside = all || (values[place] >= low && values[place] <= high);
      row.hidden = !inside || !texts[place].includes(wanted);
      left += row.hidden ? 0 : 1;
    });
    const unit = range ? " " + range.dataset.unit : "";
    const told = all ? "" : low === -Infinity ? ", at most " + high + unit
      : high === Infinity ? ", at least " + low + unit : ", " + low + " to " + high + unit;
    if (range) tell(all ? null : [low, high]);
    found.textContent = left.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " rows" + told;
    if (clear) clear.hidden = all;
    if (!range) return;
    chosen.hidden = all;
    chosen.replaceChildren();
    const link = document.createElement("a");
    link.href = "#" + range.dataset.anchor;
    link.textContent = "The table";
    chosen.append(link, " shows " + found.textContent + ".");
  }
  field.addEventListener("input", filter);
  if (range) {
    let setting = 0; /* brushes on their way that the fields have set, and not the reader */
    function chart() {
      return document.querySelector(".chart[data-name='" + range.dataset.chart + "']");
    }
    function brush() { /* on the chart, what the fields say */
      const view = chart() && chart().view;
      if (!view) return;
      const scale = view.scale("x"), domain = scale.domain(), now = limits();
      const all = now[0] === -Infinity && now[1] === Infinity;
      const at = now.map(function (end) { return scale(Math.min(Math.max(end, domain[0]), domain[1])); });
      setting += 1;
      view.signal("brush_x", all ? [0, 0] : at).runAsync().finally(function () { setting -= 1; });
    }
    ends.forEach(function (end) {
      end.addEventListener("input", filter);
      end.addEventListener("change", brush);
    });
    clear.addEventListener("click", function () {
      ends.forEach(function (end) { end.value = ""; });
      filter();
      brush();
      ends[0].focus();
    });
    if (chart()) chart().after(chosen);
    document.addEventListener("chart-live", function (event) {
      if (event.target === chart() && table.isConnected && before) brush();
    });
    document.addEventListener("chart-brush", function (event) {
      if (event.target.dataset.name !== range.dataset.chart || setting || !table.isConnected) return;
      const chosen = event.detail.value;
      ends.forEach(function (end, place) { end.value = chosen ? +chosen[place].toFixed(3) : ""; });
      filter();
    });
  }
  search.hidden = false;
  filter();
});
