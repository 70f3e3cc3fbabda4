/**
 * Reading a configuration in the browser: its family, the variant of it, the dimensions (sitegen/memory/reading.py, line by line).
 * What each family calls its dimensions comes as data from Python (`Sitegen.data`).
 */
window.Sitegen = Object.assign(window.Sitegen ?? {}, (() => {
  "use strict";

  const data = () => window.Sitegen.data;
  const absent = (value) => value === undefined || value === null;
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  /** A refusal, for the page to put in French. @param {string} code @param {string} field @param {*} [detail] */
  const refusal = (code, field, detail) => Object.assign(new Error(code), { code, field, detail });

  function textPart(config) {
    if (isObject(config.text_config)) {
      const ties = [config, config.text_config].map((part) => part.tie_word_embeddings);
      if (!ties.some(absent) && ties[0] !== ties[1]) throw refusal("contradictory-tie", "tie_word_embeddings");
      const inherited = Object.fromEntries(["tie_word_embeddings", "torch_dtype", "dtype"].filter((key) => key in config).map((key) => [key, config[key]]));
      return [{ ...inherited, ...config.text_config }, ["nested-text-config"]];
    }
    const sees = ["vision_config", "image_size", "patch_size"].some((key) => key in config);
    if (sees && !("vocab_size" in config)) throw refusal("vision-only", "model_type");
    return [config, []];
  }

  function familyOf(config) {
    const name = config.model_type;
    if (typeof name !== "string") throw refusal("missing-field", "model_type");
    const { families, aliases } = data().reading;
    const family = Object.hasOwn(families, aliases[name] ?? name) ? families[aliases[name] ?? name] : undefined;
    if (!family) throw refusal("unknown-family", "model_type", name);
    return family;
  }

  function whole(key, given) {
    if (!Number.isInteger(given) || given <= 0 || given > data().reading.maximum_dimension) throw refusal("bad-field", key, JSON.stringify(given));
    return given;
  }

  function share(rule, config) {
    for (const place of [config, config.rope_parameters].filter(isObject)) {
      for (const key of rule.share_keys) if (typeof place[key] === "number" && place[key] > 0 && place[key] <= 1) return place[key];
    }
    return rule.share;
  }

  function valueOf(rule, config, known) {
    const key = rule.keys.find((each) => !absent(config[each]));
    if (key !== undefined) return whole(key, config[key]);
    if (rule.numerator) {
      const size = Math.floor((known[rule.numerator] * rule.factor) / (rule.denominator ? known[rule.denominator] : 1));
      return rule.share_keys.length ? Math.floor(size * share(rule, config)) : size;
    }
    if (absent(rule.constant)) throw refusal("missing-field", rule.keys[0]);
    return rule.constant;
  }

  function flagOf(flag, text, config) {
    const values = flag.keys.map((key) => text[key] ?? config[key] ?? flag.default);
    const names = values.map((value) => flag.names.find(([known]) => known === value)?.[1]);
    return names.every((name) => name !== undefined && name === names[0]) ? names[0] : undefined;
  }

  function headsOf(family, dimensions) {
    if (!family.heads) return [];
    if (dimensions.K === dimensions.H) return ["mha"];
    return [dimensions.K === 1 ? "mqa" : "gqa"];
  }

  /** @param {object} config content of a config.json @returns family, variant, dimensions, notes, unsupported keys */
  function dimensions(config) {
    if (!isObject(config)) throw refusal("not-an-object", "");
    const [text, notes] = textPart(config);
    const family = familyOf(text);
    const found = {};
    for (const rule of family.rules) found[rule.symbol] = valueOf(rule, text, found);
    if (found.L > data().reading.maximum_layers) throw refusal("too-many-layers", "num_hidden_layers", found.L);
    if (found.H % (found.K ?? found.H)) throw refusal("bad-field", "num_key_value_heads", found.K);
    const flags = family.flags.map((flag) => flagOf(flag, text, config));
    const odd = family.requirements.filter(({ key, values }) => !absent(text[key]) && !values.some((each) => same(each, text[key])));
    const wide = found.d > data().reading.widest_head ? ["head_dim"] : [];
    const unsupported = [...odd.map(({ key }) => key), ...wide, ...family.flags.filter((_, index) => flags[index] === undefined).map(({ keys }) => keys[0])];
    if (text.dtype && text.torch_dtype && text.dtype !== text.torch_dtype) notes.push("dtype-conflict");
    const variant = [...flags.map((name) => name ?? "other"), ...headsOf(family, found)].join("-");
    return { family: family.name, variant, dimensions: found, notes, unsupported };
  }

  return { dimensions, refusal };
})());
