/** « VRAM d’inférence »: V = W + C, the weights and the KV cache; layers with a window keep at most the window. */
(window.SitegenCalculators ??= {}).inference = () => {
  "use strict";

  const { format, exact } = window.FrenchNumbers;
  const { equals, gigabytes, GB } = window.SitegenCalculator;
  const { weights_bytes: weightsOf, kv_windowed_bytes: cacheOf, inference_bytes: totalOf } = window.SitegenFormulas;
  const BILLION = 1e9;

  /** The layers of one kind keep so many tokens each. */
  const calculation = (batch, layers, tokens, { k, d, c }) =>
    `2 × ${[batch, layers, tokens, k, d, c].map(exact).join(" × ")}`;

  /** @param {Object<string, number>} values */
  function view(values) {
    const { n, o, l, lw, w, k, d, b, s, c } = values;
    const weights = weightsOf(n * BILLION, o);
    const full = cacheOf(b, s, w, l, 0, k, d, c);
    const windowed = cacheOf(b, s, w, 0, lw, k, d, c);
    const cache = cacheOf(b, s, w, l, lw, k, d, c);
    const total = totalOf(weights, cache) / GB;
    const parts = [
      { component: "weights", label: "Poids, W", how: `${exact(n)} milliards × ${exact(o)}`, size: weights / GB },
      { component: "kv_cache", label: "Cache, attention complète", how: calculation(b, l, s, values), size: full / GB },
      {
        component: "kv_cache",
        label: "Cache, couches à fenêtre",
        how: calculation(b, lw, Math.min(s, w), values),
        size: windowed / GB,
      },
    ].filter(({ size }) => size > 0);
    return {
      value: gigabytes(total),
      formula: `V = W + C = ${format(weights / GB)} + ${format(cache / GB)} ${equals(total)} ${gigabytes(total)}`,
      bar: parts,
      lines: [
        ...parts.map(({ component, label, how, size }) => ({ component, label, cells: [how, format(size)] })),
        { label: "V, total", total: true, cells: ["", format(total)] },
      ],
    };
  }

  /** @param {Object<string, number>} values @returns {Object<string, string>} what is wrong between fields */
  function check({ l, lw, w }) {
    if (lw > 0 && w === 0) return { w: "Indiquez la fenêtre, en jetons\u00a0: des couches en ont une." };
    return l + lw === 0 ? { l: "Indiquez au moins une couche, complète ou à fenêtre." } : {};
  }

  return { view, check };
};
