/** Showing what to change, and how far one can go, on the chosen card. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});

  /** @param {HTMLElement} host @param {(patch: Record<string, string>) => void} apply called with the form's new values */
  E.plan = (host, apply) => {
    const part = (name) => host.querySelector(`[data-part="${name}"]`);
    const [lead, body, together, limits] = ["advice-lead", "changes", "together", "limits"].map(part);
    let patches = [];

    function row(change, available) {
      const heading = E.element("th", "", change.label);
      heading.scope = "row";
      const button = E.element("button", "try", "Essayer");
      button.type = "button";
      button.append(E.element("span", "visually-hidden", E.spaced(` : ${change.label}`)));
      const cells = [
        E.element("td", "numeric gain", `\u2212${E.gigabytes(change.gain)}`),
        E.element("td", "numeric", E.gigabytes(change.result.peak_bytes)),
        E.element("td", "", E.told(E.verdict(change.result, available))),
        E.element("td", "price", E.spaced(change.price)),
        E.element("td", "", button),
      ];
      return E.element("tr", "", heading, ...cells);
    }

    /** One sentence before the table. */
    function opening(verdict, found, place) {
      if (verdict === "fits") return `Cela tient déjà sur ${place.name} ; voici ce qui rendrait encore de la place.`;
      const enough = found.filter(({ result }) => E.verdict(result, place.available) === "fits");
      if (enough.length === 1) return `Un seul de ces changements suffit sur ${place.name} : ${enough[0].label}.`;
      if (enough.length > 1) return `Chacun de ces ${enough.length} changements suffit sur ${place.name}.`;
      return found.length ? `Aucun de ces changements ne suffit seul sur ${place.name}.` : "Aucun changement connu n’abaisse ce pic.";
    }

    /** What to change first. @param {(o: object) => object} estimate */
    function advise(estimate, options, result, place) {
      const verdict = E.verdict(result, place.available);
      const found = E.changes(estimate, options, result);
      patches = found.map(({ patch }) => patch);
      body.replaceChildren(...found.map((change) => row(change, place.available)));
      E.write(lead, E.spaced(opening(verdict, found, place)));
      const alone = found.some((change) => E.verdict(change.result, place.available) === "fits");
      E.write(together, verdict === "fits" || alone ? "" : E.spaced(joined(E.together(estimate, options, result, place.available), place)));
    }

    /** What the changes do together. */
    function joined(found, place) {
      if (!found) return `Même ensemble, ils ne le font pas tenir sur ${place.name}.`;
      return `Ensemble, ils le font tenir : ${found.taken.map(({ label }) => label).join(" + ")} → ${E.size(found.result.peak_bytes)}.`;
    }

    /** The largest batch and the longest sequence. */
    function reach(estimate, options, place) {
      const { batch, length } = E.limits(estimate, options, place.available);
      const none = "aucun ne tient";
      const many = (value, most, unit) => (value >= most ? `plus de ${E.counted(most, unit)}` : E.counted(value, unit));
      limits.replaceChildren(
        E.element("dt", "", E.spaced(`Le plus grand lot, séquences de ${E.number(options.sequence_length)}`)),
        E.element("dd", "", batch ? many(batch, E.LARGEST, "exemple") : none),
        E.element("dt", "", E.spaced(`La plus longue séquence, lot de ${E.number(options.batch_size)}`)),
        E.element("dd", "", length ? many(length, E.LONGEST, "jeton") : "aucune ne tient"),
        E.element("dd", "on-card", `sur ${place.name}`),
      );
    }

    body.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) apply(patches[[...body.children].indexOf(button.closest("tr"))]);
    });
    return { advise, reach };
  };
})();
