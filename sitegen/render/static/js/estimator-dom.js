/** The few gestures on the page that the estimator's scripts share. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const SVG = "http://www.w3.org/2000/svg";

  /** @param {string} tag @param {string} className @param {...(Node|string)} children */
  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  /** @param {string} tag @param {Record<string, string|number>} attributes */
  function drawn(tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  /** A rectangle in the texture of a component. @param {string} component */
  const piece = (component) => drawn("rect", { fill: `url(#p-${component})`, y: 0, height: "100%", x: "0%", width: "0%" });

  /** The square that stands before a component's name. @param {string} component */
  function swatch(component) {
    const made = drawn("svg", { class: "swatch", "aria-hidden": "true", focusable: "false" });
    const inside = piece(component);
    inside.setAttribute("width", "100%");
    made.append(inside);
    return made;
  }

  /** Write a text only where it changed: an unchanged one costs nothing and is not announced again. */
  function write(node, text) {
    const only = node.firstChild;
    if (only instanceof Text && only === node.lastChild) {
      if (only.data !== text) only.data = text; // a third of the time that a new node takes
    } else if (node.textContent !== text) node.textContent = text;
  }

  /** What was last set on each element: asking the document costs more than remembering. @type {WeakMap<Element, Record<string, string>>} */
  const known = new WeakMap();

  /** Set an attribute only where it changed. @param {Element} node @param {string} name @param {string} value */
  function set(node, name, value) {
    let attributes = known.get(node);
    if (!attributes) known.set(node, (attributes = {}));
    if (attributes[name] === value) return;
    attributes[name] = value;
    node.setAttribute(name, value);
  }

  /** A length across a drawing, to a tenth of a thousandth of it. @param {number} share */
  const across = (share) => `${Math.round(1e4 * share) / 100}%`;

  /** How to read a group of radio buttons: the collection of a form is slow to ask. @param {Iterable<HTMLInputElement>} group */
  function chosenOf(group) {
    const buttons = [...group];
    return () => buttons.find((button) => button.checked)?.value ?? "";
  }

  /** Run once things have been quiet for a while: asking again costs a comparison, not a timer. @param {number} wait_ms */
  function quieted(wait_ms, run) {
    let [timer, due] = [0, Infinity];
    const ring = () => {
      const left = due - performance.now();
      timer = left > 1 ? setTimeout(ring, left) : 0;
      if (!timer) run();
    };
    return () => {
      due = performance.now() + wait_ms;
      timer ||= setTimeout(ring, wait_ms);
    };
  }

  const placed = new WeakMap(); // what was last drawn of each row of rectangles

  /** Place rectangles side by side. @param {SVGRectElement[]} pieces @param {number[]} sizes @param {number} whole */
  function stack(pieces, sizes, whole) {
    const before = placed.get(pieces) ?? [];
    let left = 0;
    const now = sizes.map((size) => {
      const at = [Math.max(0, size) / whole, left];
      left += at[0];
      return at;
    });
    now.forEach(([width, x], index) => {
      const [former, place] = before[index] ?? [0, 0];
      if (width !== former) pieces[index].setAttribute("width", across(width));
      if (width > 0 && x !== place) pieces[index].setAttribute("x", across(x));
    });
    placed.set(pieces, now.map(([width, x], index) => [width, width > 0 ? x : (before[index]?.[1] ?? 0)]));
  }

  Object.assign(E, { element, drawn, piece, swatch, write, set, across, chosenOf, quieted, stack });
})();
