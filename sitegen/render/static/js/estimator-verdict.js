/** Whether an estimate fits: never said to, unless the top of its interval does. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});

  const WORDS = window.Sitegen.data.words.verdicts;

  /**
   * What must fit, as [low, high] in bytes. On a GPU, what the driver sees; on a machine, the process whole: what it holds before any
   * model, and the loading when that is more. @param {object} result
   */
  function span(result) {
    if (result.source === "fixed") return [result.peak_bytes, result.peak_bytes];
    if (result.cuda) return result.cuda.device_interval_bytes;
    const [low, high] = result.interval_bytes;
    return [low + E.baseline_bytes, Math.max(high, result.load_peak_bytes) + E.baseline_bytes];
  }

  /**
   * The verdict of a result in `available` bytes. A fixed bill is a floor: it can only say no.
   * @returns {"fits" | "tight" | "over" | "unknown"}
   */
  function verdict(result, available) {
    const [low, high] = span(result);
    if (result.source === "fixed") return low > available ? "over" : "unknown";
    if (high <= available) return "fits";
    return low <= available ? "tight" : "over";
  }

  /** The verdict as it is written: a mark for the eye, a word for all. @param {string} key */
  function told(key) {
    const mark = E.element("span", "mark", WORDS[key].mark);
    mark.setAttribute("aria-hidden", "true");
    return E.element("span", `told ${key}`, mark, ` ${WORDS[key].text}`);
  }

  /** Change a verdict already written. @param {HTMLElement} node @param {string} key */
  function retell(node, key) {
    if (node.classList.contains(key)) return;
    node.className = `told ${key}`;
    node.firstChild.textContent = WORDS[key].mark;
    node.lastChild.textContent = ` ${WORDS[key].text}`;
  }

  Object.assign(E, { span, verdict, told, retell, VERDICTS: WORDS });
})();
