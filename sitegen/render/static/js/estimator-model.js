/** Which model: found in the catalogue, read from a config.json, or known by its parameters alone. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const MOST_CHARACTERS = 1_000_000; // the largest config.json of the catalogue's models has some thousands
  const BILLION = 1e9;
  const MOST_PARAMETERS = 1e14;
  const SHORTEST_LIST = 60; // models shown at once: all that match, within reason

  /** A name as it is compared: letters and digits only, without accents. @param {string} text */
  const folded = (text) => text.toLowerCase().normalize("NFD").replace(/[^a-z0-9.]+/g, " ").trim();

  /** Everything a model can be found by. */
  const handle = (model) => ` ${folded([model.name, model.hub, model.key, model.config.model_type, ...model.aliases].join(" "))}`;

  /** The models whose names have every word typed. @param {object[]} models @param {string} text */
  function matching(models, text) {
    const words = folded(text).split(" ").filter(Boolean);
    return models.filter((model) => words.every((word) => (model.handle ??= handle(model)).includes(word))).slice(0, SHORTEST_LIST);
  }

  /** The model that is exactly so called, in any case. @param {object[]} models @param {string} name */
  function named(models, name) {
    const sought = folded(name);
    const called = (model) => [model.name, model.hub, model.key, model.hub.split("/").pop(), ...model.aliases];
    return sought ? models.find((model) => called(model).some((each) => folded(each) === sought)) : undefined;
  }

  /** What a configuration says of the model; throws `{code, field, detail}`. @param {object} config */
  function read(config) {
    return window.Sitegen.dimensions(config);
  }

  /** A model of the catalogue as the estimate takes it. */
  function fromCatalogue(entry) {
    return { ...read(entry.config), parameters: entry.parameters, key: entry.key, name: entry.name, hub: entry.hub, config: entry.config };
  }

  /** Parse a pasted text; throws `{code, detail}`. @param {string} text */
  function parsed(text) {
    if (text.length > MOST_CHARACTERS) throw { code: "too-large", detail: E.size(text.length) };
    let config;
    try {
      config = JSON.parse(text);
    } catch (error) {
      const place = /line (\d+)/.exec(error.message) ?? /position (\d+)/.exec(error.message);
      const where = place ? `l’erreur est à ${place[0].startsWith("line") ? "la ligne" : "la position"} ${place[1]}.` : "il est incomplet.";
      throw { code: "not-json", detail: where };
    }
    if (config === null || typeof config !== "object" || Array.isArray(config)) throw { code: "not-an-object" };
    return config;
  }

  const HEAD = "lm_head.weight";

  /** Refuse a flag that the tensors contradict: one more or one less matrix of embeddings is a large difference. @param {string[]} tensors */
  function judgeTie(config, tensors) {
    const { tie_word_embeddings: tied } = config.text_config ?? config;
    if (typeof tied !== "boolean" || !tensors.some((name) => name.endsWith("embed_tokens.weight"))) return;
    if (tied === tensors.includes(HEAD)) throw { code: tied ? "tied-with-a-head" : "untied-without-a-head" };
  }

  /** Refuse what `sitegen estimate` refuses too: two formats at once, and weights that are quantised already. */
  function judgeFormat(config, { notes }) {
    if (notes.includes("dtype-conflict")) throw { code: "dtype-conflict" };
    if (config.quantization_config) throw { code: "quantised" };
  }

  /**
   * The model of a pasted configuration; throws `{code, field, detail}`.
   * @param {string} text @param {string[]} [tensors] their names, when the index of the weights came with it
   */
  function fromText(text, tensors = []) {
    const config = parsed(text);
    const found = read(config);
    judgeFormat(config, found);
    judgeTie(config, tensors);
    const name = typeof config._name_or_path === "string" && config._name_or_path ? config._name_or_path : "config.json";
    return { ...found, key: "", name, hub: "", config };
  }

  /** The model of which only the size is known. @param {number} billions */
  function fromParameters(billions) {
    return { parameters: Math.round(billions * BILLION), name: `${E.number(billions, 2)} milliards de paramètres`, key: "", hub: "", notes: [] };
  }

  /** The one line under the field: what was understood. @param {object} model */
  function facts(model) {
    const { dimensions: d, parameters, family } = model;
    const said = parameters ? [E.counted(parameters, "paramètre")] : [];
    if (!d) return said.join("");
    said.push(family, E.counted(d.L, "couche"), `largeur${E.NO_BREAK}${E.number(d.h)}`);
    said.push(d.K && d.K !== d.H ? `${d.H} têtes pour ${d.K} clés` : E.counted(d.H, "tête"));
    if (d.E) said.push(`${d.E} experts, dont ${d.k} par jeton`);
    said.push(`vocabulaire${E.NO_BREAK}${E.number(d.V)}`);
    return said.join(" · ");
  }

  Object.assign(E, { MOST_CHARACTERS, MOST_PARAMETERS, BILLION, matching, named, fromCatalogue, fromText, fromParameters, facts });
})();
