/** Tables whose columns sort: the text is French, the raw value is in `data-sort`. */
(() => {
  "use strict";

  const collator = new Intl.Collator("fr", { numeric: true });

  /** What a cell sorts by: its raw value, else its text. @param {HTMLTableCellElement} cell */
  function key(cell) {
    return cell.dataset.sort === undefined ? cell.textContent.trim() : Number(cell.dataset.sort);
  }

  /**
   * Numbers before texts (a failed run has no number), each kind in its order.
   * @param {number|string} a @param {number|string} b @param {number} direction 1 or -1
   */
  function compare(a, b, direction) {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return direction * (typeof a === "number" ? a - b : collator.compare(a, b));
  }

  /** Sort by a column; a second use turns the order round. @param {HTMLTableCellElement} heading */
  function sort(heading) {
    const body = heading.closest("table").tBodies[0];
    const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const rows = Array.from(body.rows, (row) => ({ row, key: key(row.cells[heading.cellIndex]) }));
    rows.sort((a, b) => compare(a.key, b.key, direction));
    body.append(...rows.map(({ row }) => row));
    heading.parentElement.querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
  }

  /** Turn a heading's text into a button. @param {HTMLTableCellElement} heading */
  function wire(heading) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(heading));
    heading.append(button);
  }

  document.querySelectorAll("table[data-sortable] thead th").forEach(wire);
})();
