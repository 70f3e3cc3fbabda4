/** « Paramètres LoRA »: r × (inputs + outputs) for each targeted matrix, in every layer. */
(window.SitegenCalculators ??= {}).lora = (data) => {
  "use strict";

  const { format, exact } = window.FrenchNumbers;
  const { size } = window.SitegenCalculator;
  const { lora_matrix_parameters: ofMatrix, adapter_bytes: keptOf, weights_bytes: sizeOf } = window.SitegenFormulas;
  const BILLION = 1e9;
  const NO_BREAK = "\u00a0";

  const product = (values, names) => names.reduce((result, name) => result * values[name], 1);

  /** @param {Object<string, number>} values @param {{targets: string[]}} chosen */
  function view(values, { targets }) {
    const matrices = data.matrices
      .filter(({ name }) => targets.includes(name))
      .map(({ name, inputs, outputs }) => {
        const [from, to] = [product(values, inputs), product(values, outputs)];
        return { name, from, to, parameters: ofMatrix(values.r, values.l, from, to) };
      });
    const total = matrices.reduce((sum, { parameters }) => sum + parameters, 0);
    const share = `${format((100 * total) / (values.n * BILLION))}${NO_BREAK}%`;
    const [file, kept] = [sizeOf(total, values.o), keptOf(total, values.o)].map(size);
    return {
      value: exact(total),
      formula:
        `Soit ${share} du modèle. L’adaptateur seul prend ${file}, ` +
        `et ${kept} avec ses gradients et ses deux moments.`,
      bar: [],
      lines: [
        ...matrices.map(({ name, from, to, parameters }) => ({
          label: name,
          lang: "en",
          cells: [exact(from), exact(to), exact(parameters)],
        })),
        { label: "Total", total: true, cells: ["", "", exact(total)] },
      ],
    };
  }

  return { view };
};
