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
  const field = search.querySelector("input");
  const found = search.querySelector("output");
  const texts = rows.map(function (row) {
    return (row.cells[0].textContent + "\n" + row.cells[1].textContent).toLowerCase();
  });
  function filter() {
    const wanted = field.value.trim().toLowerCase();
    let left = 0;
    rows.forEach(function (row, place) {
      row.hidden = !texts[place].includes(wanted);
      left += row.hidden ? 0 : 1;
    });
    found.textContent = left.toLocaleString("en") + " of " + rows.length.toLocaleString("en") + " rows";
  }
  field.addEventListener("input", filter);
  search.hidden = false;
  filter();
});
