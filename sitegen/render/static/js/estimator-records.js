/** Records that the reader drops: read, judged, estimated again, and the gap shown. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const MOST_BYTES = 5_000_000; // a record is some tens of kilobytes
  const SCHEMA = 1; // records.model.SCHEMA_VERSION
  const MEGA = 1e6;

  const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  const isCount = (value) => Number.isInteger(value) && value > 0;

  /** What is wrong with a record, in French; empty when nothing is. @param {unknown} record */
  function fault(record) {
    if (!isObject(record) || !isObject(record.case) || !isObject(record.summary)) return "ce n’est pas un relevé de sitegen.";
    if (record.schema_version !== SCHEMA) return `sa version de schéma est ${record.schema_version}, et cette page lit la version ${SCHEMA}.`;
    if (record.status !== "ok") return `l’essai n’a pas abouti (${record.status}) : il n’a pas de pic à comparer.`;
    if (!isCount(record.summary.peak_bytes) || !isCount(record.summary.parameters)) return "son pic ou son nombre de paramètres manque.";
    const { mode, batch_size, sequence_length, lora_targets } = record.case;
    if (!["inference", "training", "generation"].includes(mode)) return "ce relevé est celui d’une mémoire de départ, sans modèle.";
    return [batch_size, sequence_length].every(isCount) && Array.isArray(lora_targets) ? "" : "ses options sont incomplètes.";
  }

  /** The model that was measured: of the catalogue, else the one on the page, when they have as many parameters. */
  function modelOf(record, models, current) {
    const same = (model) => model?.parameters === record.summary.parameters;
    const family = record.model?.model_type;
    const named = E.named(models, record.case.model) ?? E.named(models, record.case.model.replace(/-instruct$/, ""));
    if (same(named)) return E.fromCatalogue(named);
    if (same(current) && (!family || current.family === family)) return current;
    const found = models.find((model) => same(model) && (!family || model.config.model_type === family));
    return found ? E.fromCatalogue(found) : null;
  }

  /**
   * @param {HTMLElement} host
   * @param {{models: object[], current: () => object, estimate: (model: object, options: object) => Promise<object>}} context
   */
  E.records = (host, { models, current, estimate }) => {
    const part = (name) => host.querySelector(`[data-part="${name}"]`);
    const [region, body] = [part("records"), part("record-rows")];
    const error = host.querySelector('[data-error="record"]');

    function row(record, model, result, sealed) {
      const measured = record.summary.peak_bytes;
      const gap = result.peak_bytes / measured - 1;
      const [low, high] = result.interval_bytes;
      const heading = E.element("th", "", `${model.name} · ${record.case_id ?? record.case.mode}`);
      heading.scope = "row";
      if (sealed === undefined) heading.append(E.element("small", "card-note", "Sceau non vérifié : ce navigateur ne calcule pas d’empreinte sur cette page."));
      const sign = gap > 0 ? "+" : "";
      const inside = low <= measured && measured <= high;
      const figures = [E.number(measured / MEGA), E.number(result.peak_bytes / MEGA), `${sign}${E.percent(gap, 2)}`];
      return E.element("tr", "", heading, ...figures.map((text) => E.element("td", "numeric", text)), E.element("td", "", E.spaced(`${inside ? "oui" : "non"} : ${E.between(result.interval_bytes)}`)));
    }

    /** One file; the sentence of what is wrong with it, if anything. @param {File} file */
    async function take(file) {
      const named = (sentence) => E.spaced(`${file.name} : ${sentence}`);
      if (file.size > MOST_BYTES) return named("ce fichier est trop grand pour un relevé.");
      const text = await file.text().catch(() => "");
      let record;
      try {
        record = JSON.parse(text);
      } catch {
        return named("ce n’est pas du JSON.");
      }
      const wrong = fault(record);
      if (wrong) return named(wrong);
      const sealed = await E.isSealed(text);
      if (sealed === false) return named("son sceau ne correspond pas à son contenu : il a été modifié après la mesure.");
      return compare(record, sealed, named);
    }

    async function compare(record, sealed, named) {
      try {
        const model = modelOf(record, models, current());
        if (!model) return named("son modèle n’est pas au catalogue. Donnez d’abord son config.json, plus haut, puis redonnez le relevé.");
        body.append(row(record, model, await estimate(model, record.case), sealed));
        region.hidden = false;
        return "";
      } catch (fault_) {
        return named(fault_.code ? E.complaint(fault_) : "ce cas n’a pas pu être estimé.");
      }
    }

    return async (files) => {
      const wrong = [];
      for (const file of files) wrong.push(await take(file));
      E.write(error, wrong.filter(Boolean).join(" "));
    };
  };
})();
