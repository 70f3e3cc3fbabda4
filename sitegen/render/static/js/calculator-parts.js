/** What calculators draw and write: pieces of a picture, lines of a table, sizes. */
window.SitegenCalculator = (() => {
  "use strict";

  const { format, exact } = window.FrenchNumbers;
  const SVG = "http://www.w3.org/2000/svg";
  const NO_BREAK = "\u00a0";
  const GB = 1e9;

  /** @param {number} value in Go */
  const gigabytes = (value) => `${format(value)}${NO_BREAK}Go`;

  /** @param {number} bytes @returns {string} in Mo, and from 2 Go on in Go, as the pages write sizes */
  const size = (bytes) => (bytes >= 2 * GB ? gigabytes(bytes / GB) : `${format(bytes / 1e6)}${NO_BREAK}Mo`);

  /** @param {number} value @returns {string} the sign before it, once it is written with few decimals */
  const equals = (value) => (format(value) === exact(value) ? "=" : "≈");

  /** @param {string} tag @param {string} className @param {...(Node|string)} children */
  function element(tag, className, ...children) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...children);
    return made;
  }

  /** A piece of the picture, filled with the texture of its component. */
  function piece(component, attributes) {
    const rectangle = document.createElementNS(SVG, "rect");
    const all = { fill: `url(#p-${component})`, y: 0, height: "100%", ...attributes };
    Object.entries(all).forEach(([name, value]) => rectangle.setAttribute(name, value));
    return rectangle;
  }

  /** The pieces of a bar, side by side, each as wide as its share. @param {{component: string, size: number}[]} rows */
  function bar(rows) {
    const total = rows.reduce((sum, { size }) => sum + size, 0);
    let left = 0;
    return rows.map(({ component, size }) => {
      const drawn = piece(component, { x: `${left}%`, width: `${(100 * size) / total}%` });
      left += (100 * size) / total;
      return drawn;
    });
  }

  function swatch(component) {
    const drawn = document.createElementNS(SVG, "svg");
    drawn.setAttribute("class", "swatch");
    drawn.setAttribute("aria-hidden", "true");
    drawn.append(piece(component, { width: "100%" }));
    return drawn;
  }

  /** One line of the details. @param {{component?: string, label: string, lang?: string, cells: string[], total?: boolean}} given */
  function line({ component, label, lang, cells, total }) {
    const heading = element("th", "", label);
    heading.scope = "row";
    if (lang) heading.lang = lang;
    if (component) heading.prepend(swatch(component));
    return element("tr", total ? "total" : "", heading, ...cells.map((text) => element("td", "numeric", text)));
  }

  return { GB, gigabytes, size, equals, bar, line };
})();
