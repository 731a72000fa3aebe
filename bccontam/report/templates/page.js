"use strict";
(() => {
  const rows = JSON.parse(document.getElementById("data").textContent);
  const table = document.getElementById("entries");
  const headings = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const pageSize = Number(table.dataset.pageSize);
  const search = document.getElementById("search");
  const selects = [...document.querySelectorAll(".filters select")];
  const output = document.getElementById("shown");
  const [previous, next] = [document.getElementById("previous"), document.getElementById("next")];
  const state = { column: -1, ascending: true, page: 0, rows };

  const words = (cell) => (Array.isArray(cell) ? cell.join(" ") : cell);
  const compare = new Intl.Collator("en", { numeric: true }).compare;

  // What is unknown comes last, whichever way a column is sorted.
  const order = (column, ascending, number) => (one, other) => {
    const [a, b] = [one[column], other[column]].map((cell) => (number ? cell : words(cell)));
    const [noA, noB] = [a === null || a === "", b === null || b === ""];
    if (noA || noB) return noA - noB;
    const found = number ? a - b : compare(a, b);
    return ascending ? found : -found;
  };

  const isNumber = (column) => headings[column].dataset.kind === "number";
  const isHit = { hit: (cell) => cell > 0, miss: (cell) => cell === 0, "not scored": (cell) => cell === null };

  // An answer may have several words, `ok 2, error 1, copied`: one of them is enough.
  const passes = (column, wanted) => {
    if (isNumber(column)) return isHit[wanted];
    if (wanted === "neither") return (cell) => cell === "";
    return (cell) => cell === wanted || cell.split(", ").some((word) => word.split(" ")[0] === wanted);
  };

  const choose = () => {
    const wanted = selects.filter((select) => select.value).map((select) => {
      const column = Number(select.dataset.column);
      return [column, passes(column, select.value)];
    });
    const part = search.value.trim().toLowerCase();
    state.rows = rows.filter((row) =>
      wanted.every(([column, accepts]) => accepts(row[column]))
      && (!part || row[0].toLowerCase().includes(part)));
    if (state.column >= 0) state.rows.sort(order(state.column, state.ascending, isNumber(state.column)));
    state.page = 0;
    show();
  };

  const mark = (value) => (value === null ? "–" : value === 1 ? "✓" : value === 0 ? "·" : value.toFixed(2));
  const said = (value) => (value === null ? "not scored" : value === 1 ? "hit" : value === 0 ? "miss" : "");

  const cellOf = (value, column) => {
    const cell = document.createElement(column === 0 ? "th" : "td");
    if (isNumber(column)) {
      cell.className = "mark";
      cell.textContent = mark(value);
      if (said(value)) cell.setAttribute("aria-label", said(value));
    } else if (column === 0) {
      cell.scope = "row";
      cell.appendChild(document.createElement("code")).textContent = value;
    } else if (Array.isArray(value)) {
      const list = cell.appendChild(document.createElement("ul"));
      for (const path of value) {
        list.appendChild(document.createElement("li")).appendChild(document.createElement("code")).textContent = path;
      }
    } else {
      cell.textContent = value || "–";
    }
    return cell;
  };

  const show = () => {
    const first = state.page * pageSize;
    const shown = state.rows.slice(first, first + pageSize);
    body.replaceChildren(...shown.map((row) => {
      const line = document.createElement("tr");
      line.append(...row.map(cellOf));
      return line;
    }));
    const pages = Math.max(1, Math.ceil(state.rows.length / pageSize));
    const total = state.rows.length.toLocaleString("en");
    const of = state.rows.length === rows.length ? total : `${total} (of ${rows.length.toLocaleString("en")})`;
    output.textContent = shown.length
      ? `${(first + 1).toLocaleString("en")}–${(first + shown.length).toLocaleString("en")} of ${of} entries`
      : `0 of ${rows.length.toLocaleString("en")} entries`;
    // A button that cannot be used keeps the focus: `disabled` would drop it.
    previous.setAttribute("aria-disabled", String(state.page === 0));
    next.setAttribute("aria-disabled", String(state.page >= pages - 1));
  };

  const turn = (button, by) => {
    if (button.getAttribute("aria-disabled") === "true") return;
    state.page += by;
    show();
    table.tHead.scrollIntoView({ block: "nearest" });
  };

  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      state.ascending = state.column === column ? !state.ascending : !isNumber(column);
      state.column = column;
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", state.ascending ? "ascending" : "descending");
      choose();
    });
  });
  selects.forEach((select) => select.addEventListener("change", choose));
  search.addEventListener("input", choose);
  previous.addEventListener("click", () => turn(previous, -1));
  next.addEventListener("click", () => turn(next, 1));
  document.getElementById("reset").addEventListener("click", () => {
    search.value = "";
    selects.forEach((select) => { select.value = ""; });
    choose();
  });
  document.body.classList.add("scripted");
  choose();
})();
