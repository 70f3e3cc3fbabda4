/**
 * Tables: columns that sort (the text is French, the raw value in `data-sort`), regions that scroll by keyboard, and folded ones that
 * open when an address leads to them.
 */
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

  /** Keep the arrow, which the style sheet draws, on the line of the last word. @param {HTMLButtonElement} button */
  function hold(button) {
    const last = button.lastChild;
    const word = last instanceof Text ? last.splitText(last.data.trimEnd().lastIndexOf(" ") + 1) : last;
    const unbroken = document.createElement("span");
    unbroken.className = "unbroken";
    word.replaceWith(unbroken);
    unbroken.append(word);
  }

  /** Turn a heading's text into a button. @param {HTMLTableCellElement} heading */
  function wire(heading) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...heading.childNodes);
    hold(button);
    button.addEventListener("click", () => sort(heading));
    heading.append(button);
  }

  /** A region is a stop of the keyboard only while a part of it is out of sight. @param {ResizeObserverEntry[]} entries */
  function stop(entries) {
    for (const { target } of entries) {
      const overflows = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
      if (overflows) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  }

  /** Open what the address names, where the browser does not do it by itself. */
  function unfold() {
    const folded = document.getElementById(location.hash.slice(1))?.closest("details.folded:not([open])");
    if (!folded) return;
    folded.open = true;
    document.getElementById(location.hash.slice(1)).scrollIntoView();
  }

  addEventListener("hashchange", unfold);
  unfold();
  document.querySelectorAll("table[data-sortable] thead th").forEach(wire);
  const sizes = new ResizeObserver(stop);
  document.querySelectorAll(".table-region, pre[tabindex]").forEach((region) => sizes.observe(region));
})();
