/** The page « Estimateur »: what the reader does leads to one estimate, shown at once; all that follows from it comes a moment later. */
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  const E = window.EstimatorPage;
  const { parse, typed: written } = window.FrenchNumbers;
  const PAUSE_MS = 600;
  const SOON_MS = 120;
  const MOST_GIGABYTES = 1e6;
  const FIELD_OF = { catalogue: "model", config: "config", parameters: "parameters" };

  /** @param {HTMLElement} host */
  function start(host) {
    const data = JSON.parse(host.querySelector(".estimator-data").textContent);
    data.components = Object.fromEntries(data.components);
    data.kinds = Object.fromEntries(data.kinds);
    E.baseline_bytes = data.baseline_bytes;
    const form = host.querySelector("form");
    const part = (name) => host.querySelector(`[data-part="${name}"]`);
    const rules = data.options;
    const options = E.optionsOf(form, rules, data.sets);
    const panel = E.panel(host, data.components, data.phases);
    const choice = E.cardChoice(form.elements.card, data);
    const table = E.cardTable(host, data);
    const plan = E.plan(host, apply);
    const takeaway = E.takeaway(host, data);
    const box = E.combobox(form.elements.model, part("models"), data.models, (entry) => adopt(entry, true));
    const loader = E.tables(JSON.parse(host.querySelector(".estimator-tables").textContent), host.dataset.root);
    const free = form.querySelector("[data-free]");
    const { errors, complain } = E.complaints(form);
    let entry = null; // of the catalogue
    let model = null;
    let tensors = []; // their names, when the index of the weights came with the configuration
    let last = null; // the last result, with what it was made from
    let device = "";
    let faulty = {}; // faults, as they are said after a pause
    let hinted = ""; // the card that the hint speaks of

    // --- Faults ---------------------------------------------------------------------------------------------------------------

    /** An amount typed by the reader. */
    function amount(name, rule, faults) {
      const read = parse(form.elements[name].value);
      const message = E.amountFault(read, rule);
      if (message) faults[name] = { message, kind: read.kind };
      return read.value ?? 0;
    }

    // --- The model ------------------------------------------------------------------------------------------------------------

    const source = E.chosenOf(form.elements.source);
    const origins = [...form.querySelectorAll("[data-source]")];

    /** Make the model from what the form says; a fault leaves the former one in place. */
    function remodel(faults) {
      const field = FIELD_OF[source()];
      try {
        const made = MAKERS[source()](faults);
        if (made) become(made);
        else if (!faults[field]) faults[field] = { message: "", kind: "blank" };
      } catch (fault) {
        faults[field] = { message: E.complaint(fault), kind: "malformed" };
      }
    }

    const MAKERS = {
      catalogue: (faults) => {
        if (!entry) faults.model = { message: "Aucun modèle de ce nom : choisissez-en un dans la liste.", kind: "malformed" };
        return entry && (model?.key === entry.key ? model : E.fromCatalogue(entry));
      },
      config: (faults) => {
        const text = form.elements.config.value;
        if (!text.trim()) faults.config = { message: "Collez le contenu d’un config.json, ou déposez le fichier.", kind: "blank" };
        return text.trim() ? (model?.text === text ? model : { ...E.fromText(text, tensors), text }) : null;
      },
      parameters: (faults) => {
        const billions = amount("parameters", { least: 1, most: E.MOST_PARAMETERS / E.BILLION, example: "7" }, faults);
        return faults.parameters ? null : E.fromParameters(billions);
      },
    };

    /** Take a new model: its facts, its notes, its modules. */
    function become(made) {
      if (made === model) return;
      const family = made.family;
      if (family && family !== model?.family) {
        options.offer(data.targets[family] ?? data.targets.llama, options.texts().lora_targets.split(","));
      }
      model = made;
      E.write(part("facts"), E.facts(made));
      const notes = (made.notes ?? []).map(E.note).filter(Boolean);
      part("notes").replaceChildren(...notes.map((text) => E.element("li", "", text)));
      part("notes").hidden = notes.length === 0;
      if (family) loader.load(made).then(() => arrived(made));
    }

    /** The tables of a model are there: its size is known, and its estimate is exact. */
    function arrived(made) {
      if (model !== made) return;
      made.parameters ??= window.Sitegen.parametersOf?.(made, loader.of(made));
      E.write(part("facts"), E.facts(made));
      update(false);
    }

    function adopt(chosen, typed) {
      entry = chosen;
      update(typed);
    }

    // --- Where it must fit ----------------------------------------------------------------------------------------------------

    /** The chosen card, or the capacity typed, less what is already in use. */
    function placeOf(faults) {
      const card = choice.chosen();
      const used = amount("used", { least: 0, most: MOST_GIGABYTES, example: "1,5" }, faults) * E.BILLION;
      const bytes = card ? card.bytes : amount("capacity", { least: 1, most: MOST_GIGABYTES, example: "24" }, faults) * E.BILLION;
      if (!faults.used && used >= bytes && bytes > 0) faults.used = { message: "C’est plus que la capacité.", kind: "number" };
      return { card, used, available: bytes - used, name: card?.name ?? E.size(bytes) };
    }

    /** The device decides the cards on offer and the usual optimizer step. */
    function follow(values) {
      if (values.device === device) return;
      device = values.device;
      choice.offer(device);
    }

    /** Hide what does not count. */
    function reveal(values) {
      E.write(part("card-label"), values.device === "cuda" ? "Carte" : "Machine");
      options.reveal(values);
      const from = source();
      for (const field of origins) if (field.hidden !== (field.dataset.source !== from)) field.hidden = !field.hidden;
      const card = choice.chosen();
      if (hinted === (card?.key ?? "none")) return;
      hinted = card?.key ?? "none";
      free.hidden = Boolean(card);
      const hint = card ? (card.exact ? "Ce que le pilote annonce." : "La taille de l’étiquette, moins une réserve.") : "";
      E.write(part("card-hint"), E.spaced(card?.note ? `${hint} ${card.note.replaceAll("'", "’")}` : hint));
    }

    // --- The estimate ---------------------------------------------------------------------------------------------------------

    const estimate = (which, asked) => window.Sitegen.estimate(which, asked, loader.of(which));

    /** Read the form again, estimate, show. @param {boolean} byReader whether the reader caused it */
    function update(byReader) {
      const { values, faults, options: asked } = options.read();
      follow(values);
      const place = placeOf(faults);
      remodel(faults);
      reveal(values);
      const waits = Boolean(model && loader.waits(model)); // the former result stays until its tables are there
      panel.markWaiting(waits);
      if (Object.keys(faults).length === 0 && model && !waits) attempt(asked, values, place, faults);
      showFaults(faults);
      faulty = faults;
      if (byReader) settleSoon();
    }

    function attempt(asked, values, place, faults) {
      try {
        const result = estimate(model, asked);
        const verdict = panel.show(result, asked, place, E.recap(model, asked, values, data));
        last = { model, asked, values, place, result, verdict };
        consequencesSoon();
      } catch (fault) {
        if (!fault.code) throw fault;
        const field = fault.code === "needs-eager" ? "attention" : errors[fault.field] ? fault.field : FIELD_OF[source()];
        faults[field] = { message: E.complaint(fault), kind: "malformed" };
      }
    }

    /** Faults beside their fields; what may still become right waits for the pause. */
    function showFaults(faults) {
      for (const name of Object.keys(errors)) {
        if (faults[name]?.kind !== "incomplete") complain(name, faults[name]?.message ?? "");
      }
      const wrong = Object.keys(faults).length > 0;
      if (last) panel.markStale(wrong);
      else if (wrong) panel.invite(E.spaced("Une valeur du formulaire est à corriger : le résultat s’affichera ici."));
    }

    /** After a pause: what is still wrong, once, then the result, once. */
    function settle() {
      if (model && loader.waits(model)) return void settleSoon();
      const said = [];
      for (const [name, { message }] of Object.entries(faulty)) {
        complain(name, message);
        const label = form.elements[name]?.labels?.[0]?.textContent ?? rules[name]?.label ?? "";
        if (message) said.push(E.spaced(label ? `${label.trim()} : ${message}` : message));
      }
      if (last) {
        const lead = said.length ? "Dernier résultat valable" : "Pic estimé";
        said.push(E.spaced(`${lead} : ${E.size(last.result.peak_bytes)}, ${E.VERDICTS[last.verdict].text} sur ${last.place.name}.`));
      }
      const [status, text] = [part("status"), said.join(" ")];
      if (status.textContent !== text) status.textContent = text; // a new node: what voices announce
    }

    // --- What follows from the estimate ---------------------------------------------------------------------------------------

    /** Cards, changes, limits, commands, address: less urgent than the figure, and one at a time. */
    function consequences() {
      const now = last;
      const { model: which, asked, values, place, result } = now;
      const other = (options) => estimate(which, options);
      const steps = [
        () => {
          part("consequences").hidden = false;
          table.update(result, place, asked.device);
        },
        () => plan.advise(other, asked, result, place),
        () => plan.reach(other, asked, place),
        () => takeaway(now),
        () => history.replaceState(null, "", `#${E.address(form, which, values, rules)}`),
      ];
      const follow_ = () => {
        if (last !== now || now.model !== model) return; // a newer result has its own, a newer model waits for its tables
        steps.shift()();
        if (steps.length) setTimeout(follow_);
      };
      follow_();
    }

    const settleSoon = E.quieted(PAUSE_MS, settle);
    const consequencesSoon = E.quieted(SOON_MS, consequences);

    /** Set the form from the address, else from the start. */
    function restore() {
      entry = E.restored(form, data, { options, choice, box });
      device = form.elements.device.value;
      [model, tensors] = [null, []];
    }

    /** Try a change: write it into the form. @param {Record<string, string>} patch */
    function apply(patch) {
      const values = { ...patch };
      for (const name of Object.keys(values)) if (rules[name].kind === "count") values[name] = written(Number(values[name]));
      options.fill(values);
      update(true);
      part("panel").focus({ preventScroll: true }); // the row of the button that was pressed is drawn anew
      part("panel").scrollIntoView({ block: "nearest" });
    }

    // --- Wiring ---------------------------------------------------------------------------------------------------------------

    const refuse = (code, detail) => {
      complain("config", E.complaint({ code, detail }));
      if (last) panel.markStale(true);
    };
    const accept = (text, names = []) => {
      form.elements.config.value = text;
      tensors = names;
      if (model?.text === text) model = null; // judged again, with these names
      update(true);
    };

    const records = E.records(host, {
      models: data.models,
      current: () => model,
      estimate: async (which, asked) => {
        await loader.load(which);
        return estimate(which, asked);
      },
    });
    E.dropping(host, "record", records);
    E.configuring(host, form.elements.config, accept, refuse);

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", (event) => {
      if (event.target === form.elements.model) entry = E.named(data.models, event.target.value) ?? null;
      if (event.target === form.elements.config) tensors = [];
      if (event.target.name === "device") options.fill({ foreach: String(event.target.value === "cuda") });
      update(true);
    });
    host.querySelector("[data-action=reset]").addEventListener("click", () => {
      history.replaceState(null, "", "#");
      restore();
      update(true);
    });
    host.querySelector("[data-action=download]").addEventListener("click", () => E.download("essai.py", part("script").textContent));
    addEventListener("hashchange", () => {
      if (location.hash && !location.hash.includes("=")) return; // a place in the page
      restore();
      update(true);
    });

    restore();
    update(false);
  }

  const host = document.querySelector("[data-estimator]");
  if (host && window.Sitegen?.estimate) start(host);
});
