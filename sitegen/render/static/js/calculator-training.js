/** « VRAM d’entraînement »: V = M + A, M = N × B. */
(window.SitegenCalculators ??= {}).training = (data) => {
  "use strict";

  const { format, exact } = window.FrenchNumbers;
  const { equals, gigabytes } = window.SitegenCalculator;
  const { model_gb: modelOf, total_gb: totalOf } = window.SitegenFormulas;

  /** The components of the model, in Go: those of the chosen way of training, else one for all. */
  function components({ n, b }, { preset }) {
    const shares = data.shares[preset] ?? [{ component: "phase", label: "Modèle et états", bytes: b }];
    return shares.map(({ component, label, bytes }) => ({ component, label, bytes, size: modelOf(n, bytes) }));
  }

  const line = ({ component, label, bytes, size }, total = false) => ({
    component,
    label,
    total,
    cells: [bytes === undefined ? "" : format(bytes), format(size)],
  });

  /** @param {Object<string, number>} values @param {Object<string, string>} chosen */
  function view(values, chosen) {
    const { n, b, a } = values;
    const m = modelOf(n, b);
    const v = totalOf(m, a);
    const activations = { component: a > 0 ? "activations" : undefined, label: "A, activations", size: a };
    const shares = components(values, chosen);
    return {
      value: gigabytes(v),
      formula: `V = N × B + A = ${exact(n)} × ${exact(b)} + ${exact(a)} ${equals(v)} ${gigabytes(v)}`,
      bar: a > 0 ? [...shares, activations] : shares,
      lines: [
        ...shares.map((share) => line(share)),
        line({ label: "M, modèle et états", bytes: b, size: m }, true),
        line(activations),
        line({ label: "V, total", size: v }, true),
      ],
    };
  }

  return { view };
};
