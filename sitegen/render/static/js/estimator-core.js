/**
 * The estimate in the browser: a configuration's dimensions, a table's polynomials at these dimensions, the phases that
 * they make. All that is known of memory comes as data from Python (`Sitegen.data`, `Sitegen.tables`); here it is read.
 */
window.Sitegen = Object.assign(window.Sitegen ?? {}, (() => {
  "use strict";

  const data = () => window.Sitegen.data;
  const absent = (value) => value === undefined || value === null;
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

  /** A refusal, for the page to put in French. @param {string} code @param {string} field @param {*} [detail] */
  const refusal = (code, field, detail) => Object.assign(new Error(code), { code, field, detail });

  // ---- A configuration (sitegen/memory/reading.py, line by line) ----

  function textPart(config) {
    if (isObject(config.text_config)) {
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

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

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

  // ---- Polynomials (sitegen/memory/polynomials.py) ----

  const FACTOR = /\{(\d*)([A-Za-z]*)\/(\d+)\}|([A-Za-z])/g;
  const product = (letters, at) => [...letters].reduce((result, letter) => result * at[letter], 1);

  function monomial(text, at) {
    let result = 1;
    for (const [, several, letters, divisor, letter] of text.matchAll(FACTOR)) {
      result *= letter ? at[letter] : Math.ceil(((several ? Number(several) : 1) * product(letters, at)) / Number(divisor));
    }
    return result;
  }

  function coefficient(given) {
    const [above, below = 1] = String(given).split("/");
    return Number(above) / Number(below);
  }

  /** Every polynomial of a file at some dimensions, in bytes; each monomial is computed once. */
  function evaluated(file, at) {
    const powers = new Map();
    const power = (text) => {
      if (!powers.has(text)) powers.set(text, monomial(text, at));
      return powers.get(text);
    };
    file.terms ??= file.polynomials.map((each) => Object.entries(each).map(([text, given]) => [text, coefficient(given)]));
    const values = new Map();
    return (index) => {
      if (!values.has(index)) values.set(index, file.terms[index].reduce((sum, [text, factor]) => sum + factor * power(text), 0));
      return values.get(index);
    };
  }

  // ---- Phases (sitegen/memory/composition.py gives the runs and the optimizers' rules) ----

  const total = (components) => Object.values(components).reduce((sum, bytes) => sum + bytes, 0);

  function highest(table, entry, at) {
    let best, most = -1;
    for (const peak of table.phases.find(({ name }) => name === entry).peaks) {
      const bytes = Object.values(peak).reduce((sum, index) => sum + at(index), 0);
      if (bytes > most) [best, most] = [peak, bytes];
    }
    return Object.fromEntries(Object.entries(best).map(([name, index]) => [name, at(index)]));
  }

  function bill(step, name, components, added) {
    const summed = Object.fromEntries(data().composition.components.map((part) => [part, (components[part] ?? 0) + (added[part] ?? 0)]));
    return { step, name, peak_bytes: total(summed), components: summed };
  }

  function trainingBill(table, run, at, totals, rule) {
    const components = highest(table, run.entry, at);
    if (run.name !== "optimizer_step") {
      const added = { optimizer_state: run.state ? totals[rule.state] : 0, ...(run.gradients ? { gradients: totals.gradients } : {}) };
      return bill(run.step, run.name, { ...components, optimizer_state: 0 }, added);
    }
    if (rule.temporaries === null) return bill(run.step, run.name, components, {});
    return bill(run.step, run.name, { weights: components.weights }, {
      gradients: totals.gradients, optimizer_state: totals[rule.state], temporaries: totals.batch + rule.temporaries * totals.gradients,
    });
  }

  const idsAt = (at) => Object.entries(data().composition.batch).reduce((sum, [text, factor]) => sum + factor * monomial(text, at), 0);

  /** @returns {Array} each phase of each step at its peak, the highest of its micro-batches */
  function phases(file, table, at, options) {
    const value = evaluated(file, at);
    if (options.mode !== "training") {
      return table.phases.map(({ name }) => {
        const seen = { ...at, s: at.s + (name === "decode" ? options.new_tokens - 2 : 0) };
        return bill(1, name, highest(table, name, evaluated(file, seen)), { temporaries: idsAt(at) - idsAt(seen) });
      });
    }
    const batch = idsAt(at);
    const totals = { gradients: value(table.gradients), table: value(table.optimizer_state), batch, none: 0 };
    const found = new Map();
    for (const run of data().composition.runs[`${options.zero_grad}-${options.gradient_accumulation > 1 ? "many" : "one"}`]) {
      if (run.step > (options.steps ?? 2)) continue;
      const one = trainingBill(table, run, value, totals, ruleOf(options));
      const key = `${run.step} ${run.name}`;
      if (!(found.get(key)?.peak_bytes >= one.peak_bytes)) found.set(key, one);
    }
    return [...found.values()];
  }

  const optimizerName = (options) => (options.foreach ? `${options.optimizer}-foreach` : options.optimizer);
  const ruleOf = (options) => data().composition.optimizers[optimizerName(options)] ?? data().composition.optimizers.adamw;

  // ---- Which table ----

  const list = (given) => (Array.isArray(given) ? given : String(given).split(",").map((each) => each.trim()).filter(Boolean));

  function targetsOf(family, options) {
    const asked = [...list(options.lora_targets)].sort();
    const named = Object.entries(family.targets).filter(([, names]) => same([...names].sort(), asked));
    return named.map(([name]) => name);
  }

  /** What of the options no table speaks of, and the key of the nearest table's. */
  function wanted(family, model, options) {
    const reasons = model.unsupported?.length ? ["unsupported-configuration"] : [];
    const adapter = options.mode === "training" && options.method !== "full";
    const names = adapter ? targetsOf(family, options) : [""];
    const trains = options.mode === "training";
    if (options.padding) reasons.push("padding");
    if (trains && options.loss === "chunked") reasons.push("chunked-loss");
    if (trains && options.mixed_precision === "bf16") reasons.push("mixed-precision");
    if (trains && options.reentrant) reasons.push("reentrant");
    if (trains && !data().composition.optimizers[optimizerName(options)]) reasons.push("optimizer");
    if (list(options.modules_to_save ?? "").length) reasons.push("modules-to-save");
    if (!trains && options.method !== "full") reasons.push("adapter");
    if (!family.attention.includes(options.attention)) throw refusal("needs-eager", "attention");
    if (options.attention !== family.attention[0]) reasons.push("attention");
    if (options.dtype === "float16" && trains) reasons.push("float16");
    const key = {
      mode: options.mode, method: trains ? options.method : "full", dtype: options.dtype === "float16" ? "bfloat16" : options.dtype,
      gradient_checkpointing: trains && Boolean(options.gradient_checkpointing), double_quant: trains && options.method === "qlora" && Boolean(options.double_quant),
      logits: options.mode === "inference" ? options.logits ?? "all" : "all",
      one_sequence: options.batch_size === 1,
      beyond_window: family.window && family.attention[0] === "sdpa" && model.dimensions.W > 0 && options.sequence_length > model.dimensions.W && options.mode !== "generation",
    };
    return { key, names, reasons };
  }

  /** Tables by how far their key is from the one asked for: each difference has its cost and its reason. */
  function nearest(file, { key, names, reasons }, layers) {
    const costs = { mode: 1e6, method: 1e5, gradient_checkpointing: 1e4, dtype: 1e3, logits: 300, targets: 200, beyond_window: 100, double_quant: 10, one_sequence: 1 };
    let best, least = Infinity, why = [];
    for (const table of file?.tables ?? []) {
      const has = { gradient_checkpointing: false, double_quant: false, logits: "all", one_sequence: false, beyond_window: false, dtype: "float32", method: "full", targets: "", ...table.key };
      const missed = Object.keys(key).filter((name) => has[name] !== key[name]);
      if (key.method !== "full" && !names.includes(has.targets)) missed.push("targets");
      const cost = missed.reduce((sum, name) => sum + costs[name], 0) - (missed.includes("targets") && has.targets === "all-linear" ? 0.5 : 0);
      if (cost < least) [best, least, why] = [table, cost, missed];
    }
    if (!best || least >= 1e3) return undefined;
    const { smallest, period } = best.depths;
    const deep = layers >= smallest && (layers - smallest) % period === 0 ? [] : ["no-table-depth"];
    return { table: best, reasons: [...reasons, ...deep, ...why.map((name) => `no-table-${name.replaceAll("_", "-")}`)] };
  }

  // ---- What no tensor is (sitegen/memory/runtime.py, cuda.py, intervals.py give the figures) ----

  const ITEM = { float32: 4, bfloat16: 2, float16: 2 };

  /** What a phase takes beyond its tensors (sitegen/memory/runtime.py). */
  function besideBytes(options, model, phase) {
    if (options.device === "cuda") return (options.mode === "training" ? 2 : 1) * data().cuda.workspace_bytes;
    const known = data().runtime;
    if (!known) return 0;
    const arithmetic = options.mode === "training" && options.mixed_precision === "bf16" ? "mixed" : options.dtype;
    const way = known.ways[`${options.mode}-${options.method}-${arithmetic}`] ?? known.ways[`${options.mode}-full-${arithmetic}`] ?? {};
    const extras = [options.mode === "training" && options.optimizer !== "adamw" ? options.optimizer : "", options.mode === "training" && options.gradient_checkpointing ? "gradient_checkpointing" : "", options.mode === "inference" && options.logits === "last" ? "last_logits" : ""];
    const added = extras.reduce((sum, name) => sum + (known.options[name] ?? 0), 0);
    const layers = known.layers[`${options.mode}-${options.method}`] ?? Math.max(0, ...Object.entries(known.layers).filter(([kind]) => kind.startsWith(options.mode)).map(([, size]) => size));
    return (way[phase] ?? Math.max(0, ...Object.values(way))) + added + layers * model.dimensions.L + packedBytes(options, model.dimensions) - untouchedBytes(options, model);
  }

  /** The buffer that a large float32 product leaves behind. */
  function packedBytes(options, at) {
    const { packing } = data();
    const prepared = options.mode === "training" && options.method === "qlora";
    const tokens = options.batch_size * options.sequence_length;
    const rows = options.mode === "generation" || options.logits === "last" ? options.batch_size : options.loss === "chunked" ? Math.min(tokens, packing.chunk_tokens) : tokens;
    if ((options.dtype !== "float32" && !prepared) || options.mixed_precision === "bf16" || rows < packing.rows) return 0;
    const [least, most] = packing.depths;
    const threads = options.threads ?? data().runtime.threads;
    return 4 * Math.min(at.h * at.V, threads * packing.columns * Math.min(Math.max(at.h, least), most));
  }

  /** Embeddings of their own that are frozen, and so mapped and hardly read. */
  function untouchedBytes(options, model) {
    const trained = options.mode === "training" && options.method === "full";
    const copied = options.mode === "training" && options.method === "qlora" && options.dtype !== "float32";
    if (model.variant.startsWith("tied") || trained || copied) return 0;
    return ITEM[options.dtype] * model.dimensions.h * Math.max(0, model.dimensions.V - data().packing.drawn_ids);
  }

  function bounded(bytes, reasons) {
    return reasons.reduce(([low, high], reason) => {
      const [least, most] = data().bounds[reason] ?? data().bounds.unknown;
      return [low * least, high * most];
    }, [bytes, bytes]);
  }

  function interval(bytes, options, reasons) {
    const [low, high] = bounded(bytes, reasons);
    if (options.device === "cuda") {
      const [least, most] = data().cuda.allocated_error;
      return [Math.round(low * least), Math.round((high + data().cuda.hopper_extra_bytes) * most)];
    }
    const { share: part, floor_bytes } = data().interval;
    const error = Math.max(Math.round(part * bytes), floor_bytes);
    const ratios = options.allocator === "fixed" ? [1, 1] : data().ratios[options.allocator];
    return [Math.round(Math.max(0, low - error) * ratios[0]), Math.round((high + error) * ratios[1])];
  }

  function cudaLines(peak, own) {
    const [least, , most] = data().cuda.device_ratios;
    const device = [Math.round(peak * least), Math.max(Math.round((peak + data().cuda.hopper_extra_bytes) * most), own[1] + data().cuda.context_bytes)];
    return { allocated_interval_bytes: own, reserved_interval_bytes: [peak, device[1]], device_interval_bytes: device };
  }

  // ---- An estimate ----

  /** The fixed bill of a model of which only the parameters are known: arithmetic, no activation. */
  function fixedPhases(parameters, options) {
    const item = options.dtype === "float32" ? 4 : 2;
    const weights = parameters * (options.method === "qlora" ? 0.5 + 4 / 64 : item);
    const trains = options.mode === "training" && options.method === "full";
    const gradients = trains ? parameters * item : 0;
    const state = { none: 0, gradients, table: 2 * gradients }[ruleOf(options).state];
    return [bill(1, trains ? "optimizer_step" : "forward", { weights: Math.round(weights), gradients, optimizer_state: state }, {})];
  }

  function answer(model, options, found, source, reasons) {
    const exact = source === "polynomial";
    const all = found.map((one) => {
      const beside = source === "fixed" ? 0 : besideBytes(options, model, one.name);
      return { ...one, peak_bytes: one.peak_bytes + beside, components: { ...one.components, runtime: beside } };
    });
    const peak = all.reduce((most, one) => (one.peak_bytes > most.peak_bytes ? one : most));
    const own = interval(peak.peak_bytes, options, exact || source === "fixed" ? [] : reasons);
    const weights = found[0].components.weights;
    return {
      source, exact, reasons, peak_bytes: peak.peak_bytes, interval_bytes: own, phase: { step: peak.step, name: peak.name }, phases: all,
      components: peak.components, load_peak_bytes: weights * (options.method === "qlora" ? 1 + (options.dtype === "float32" ? 4 : 2) / 0.5625 : 1),
      ...(options.device === "cuda" ? { cuda: cudaLines(peak.peak_bytes, own) } : {}),
    };
  }

  /**
   * @param {object} model what `dimensions` gives, or only {parameters}
   * @param {object} options the names of a case's options @param {object} [files] the family's files of tables, by variant
   */
  function estimate(model, options, files) {
    if (!model.dimensions) return answer(model, options, fixedPhases(model.parameters, options), "fixed", ["parameters-alone"]);
    const family = data().reading.families[model.family];
    const asked = wanted(family, model, options);
    const file = files?.[model.variant] ?? files?.[Object.keys(files ?? {})[0]];
    const found = nearest(file, asked, model.dimensions.L);
    if (!found) return answer(model, options, fixedPhases(model.parameters ?? parametersOf(model, files) ?? 0, options), "fixed", ["no-table"]);
    const reasons = [...found.reasons, ...(files[model.variant] ? [] : ["other-variant"])];
    const at = { ...model.dimensions, b: options.batch_size, s: options.sequence_length, r: options.lora_rank };
    const all = phases(file, found.table, at, options);
    return answer(model, options, all, reasons.length ? "bound" : "polynomial", reasons);
  }

  /** Parameters of a model, from the gradients of its full training: one each. */
  function parametersOf(model, files) {
    const file = files?.[model.variant];
    const table = file?.tables.find(({ key }) => key.mode === "training" && (key.method ?? "full") === "full");
    if (!table) return undefined;
    const item = (table.key.dtype ?? "float32") === "float32" ? 4 : 2;
    return evaluated(file, { ...model.dimensions, b: 2, s: 16 })(table.gradients) / item;
  }

  return { dimensions, estimate, parametersOf, phases };
})());
