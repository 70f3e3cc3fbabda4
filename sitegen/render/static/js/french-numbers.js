/**
 * Numbers as French people write them. Both `,` and `.` are decimal separators and never group digits; groups of three are
 * separated by a space: plain, no-break (U+00A0), narrow no-break (U+202F) or thin (U+2009). Anything else is refused.
 */
window.FrenchNumbers = (() => {
  "use strict";

  const SPACE = "[ \\u00a0\\u202f\\u2009]";
  const NUMBER = new RegExp(`^(?:\\d+|\\d{1,3}(?:${SPACE}\\d{3})+)(?:[.,]\\d+)?$`);
  const NEGATIVE = /^[-\u2212]\s*(?=\d)/;
  const BEGINNING = new RegExp(`^\\d(?:${SPACE}?\\d)*${SPACE}?[.,]?$`);
  const locale = document.documentElement.dataset.locale;

  /**
   * Understand what was typed.
   * @param {string} text
   * @returns {{kind: "number", value: number} | {kind: "blank" | "incomplete" | "malformed" | "negative"}} `incomplete` is malformed
   *   so far, but could become a number if typing goes on; `negative` would be a number without its sign
   */
  function parse(text) {
    const typed = text.trim();
    if (typed === "") return { kind: "blank" };
    if (NEGATIVE.test(typed) && NUMBER.test(typed.replace(NEGATIVE, ""))) return { kind: "negative" };
    if (!NUMBER.test(typed)) return { kind: BEGINNING.test(typed) ? "incomplete" : "malformed" };
    return { kind: "number", value: Number(typed.replace(new RegExp(SPACE, "g"), "").replace(",", ".")) };
  }

  /** How many decimals say something: none beyond a thousandth part of the value. @param {number} value */
  function decimals(value) {
    const size = Math.abs(value);
    if (size >= 1000) return 1;
    return size >= 1 || size === 0 ? 2 : Math.min(12, 2 - Math.floor(Math.log10(size)));
  }

  /** @param {number} value @returns {string} the number in the site's locale, without useless decimals */
  function format(value) {
    return new Intl.NumberFormat(locale, { maximumFractionDigits: decimals(value) }).format(value);
  }

  /** @param {number} value @returns {string} the number with all its decimals, but the noise of binary arithmetic */
  function exact(value) {
    return new Intl.NumberFormat(locale, { maximumFractionDigits: 12 }).format(value);
  }

  /** @param {number} value @returns {string} the number as a reader would type it, without groups */
  function typed(value) {
    return new Intl.NumberFormat("fr", { useGrouping: false, maximumFractionDigits: 12 }).format(value);
  }

  return { parse, format, exact, typed };
})();
