/**
 * The estimate in the browser: which table speaks of a case, its polynomials at the model's dimensions, the phases that they make.
 * All that is known of memory comes as data from Python (`Sitegen.data`, `Sitegen.tables`); here it is read.
 */
window.Sitegen = Object.assign(window.Sitegen ?? {}, (() => {
  "use strict";

  const data = () => window.Sitegen.data;
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

  // ---- Polynomials (sitegen/memory/polynomials.py) ----

  const FACTOR = /\{([\dA-Za-z+]*)\/(\d+)\}|([A-Za-z])/g;
  const TERM = /^(\d*)([A-Za-z]*)$/;
  const product = (letters, at) => [...letters].reduce((result, letter) => result * at[letter], 1);

  /** A sum of products, each perhaps several times: "3hh" or "Hd+2Kd". @param {string} text */
  function summed(text) {
    const terms = text.split("+").map((term) => TERM.exec(term).slice(1));
    return (at) => terms.reduce((sum, [several, letters]) => sum + (several ? Number(several) : 1) * product(letters, at), 0);
  }

  /** A monomial as a function of the dimensions: reading its text takes longer than computing it. @param {string} text */
  function compiled(text) {
    const factors = [...text.matchAll(FACTOR)].map(([, sum, divisor, letter]) => {
      if (letter) return (at) => at[letter];
      const whole = summed(sum);
      return (at) => Math.ceil(whole(at) / Number(divisor));
    });
    return (at) => factors.reduce((result, factor) => result * factor(at), 1);
  }

  const monomials = new Map(); // by their text
  function monomial(text) {
    if (!monomials.has(text)) monomials.set(text, compiled(text));
    return monomials.get(text);
  }

  function coefficient(given) {
    const [above, below = 1] = String(given).split("/");
    return Number(above) / Number(below);
  }

  /** The terms of a polynomial of a file, read once. @returns {Array<[string, number]>} */
  function termsOf(file, index) {
    file.terms ??= [];
    file.terms[index] ??= Object.entries(file.polynomials[index]).map(([text, given]) => [text, coefficient(given)]);
    return file.terms[index];
  }

  /** Every polynomial of a file at some dimensions, in bytes; each one, and each monomial, is computed once. */
  function evaluated(file, at) {
    const [powers, values] = [new Map(), []];
    const power = (text) => {
      let found = powers.get(text);
      if (found === undefined) powers.set(text, (found = monomial(text)(at)));
      return found;
    };
    return (index) => {
      if (values[index] !== undefined) return values[index];
      let sum = 0;
      for (const [text, factor] of termsOf(file, index)) sum += factor * power(text);
      return (values[index] = sum);
    };
  }

  // ---- Phases (sitegen/memory/composition.py gives the runs and the optimizers' rules) ----

  /** The peaks of a phase, each as the lists of its components and of their polynomials; made once. */
  function peaksOf(table, entry) {
    const parts = data().composition.components;
    const held = (peak) => parts.flatMap((part, place) => (peak[place] < 0 ? [] : [[part, peak[place]]]));
    const listed = (peak) => [held(peak).map(([part]) => part), held(peak).map(([, index]) => index)];
    table.peaks ??= Object.fromEntries(table.phases.map(({ name, peaks }) => [name, peaks.map(listed)]));
    return table.peaks[entry] ?? table.peaks[entry.replace(/_again$/, "")]; // as the first time, unless the table says otherwise
  }

  /** The components of an entry's highest peak. @param {(index: number) => number} at the value of a polynomial */
  function highest(table, entry, at) {
    let best, most = -1;
    for (const peak of peaksOf(table, entry)) {
      let bytes = 0;
      for (const index of peak[1]) bytes += at(index);
      if (bytes > most) [best, most] = [peak, bytes];
    }
    const [names, indices] = best;
    return Object.fromEntries(names.map((name, order) => [name, at(indices[order])]));
  }

  function bill(step, name, components, added) {
    const summed = {};
    let peak_bytes = 0;
    for (const part of data().composition.components) peak_bytes += summed[part] = (components[part] ?? 0) + (added[part] ?? 0);
    return { step, name, peak_bytes, components: summed };
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

  const idsAt = (at) => Object.entries(data().composition.batch).reduce((sum, [text, factor]) => sum + factor * monomial(text)(at), 0);

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
    if (window.Sitegen.hasSmallTensors(options, model)) reasons.push("small-tensors");
    if (options.padding) reasons.push("padding");
    if (trains && options.loss === "chunked") reasons.push("chunked-loss");
    if (trains && options.mixed_precision === "bf16") reasons.push("mixed-precision");
    if (trains && options.reentrant) reasons.push("reentrant");
    if (trains && !data().composition.optimizers[optimizerName(options)]) reasons.push("optimizer");
    if (list(options.modules_to_save ?? "").length) reasons.push("modules-to-save");
    if (!trains && options.method !== "full") reasons.push("adapter");
    if (options.mode === "generation" && family.window) reasons.push("window-cache");
    if (!family.attention.includes(options.attention)) throw window.Sitegen.refusal("needs-eager", "attention");
    if (options.attention !== family.attention[0]) reasons.push("attention");
    if (options.dtype === "float16") reasons.push("float16");
    const key = {
      mode: options.mode, method: trains ? options.method : "full", dtype: options.dtype === "float16" ? "bfloat16" : options.dtype,
      gradient_checkpointing: trains && Boolean(options.gradient_checkpointing), double_quant: trains && options.method === "qlora" && Boolean(options.double_quant),
      logits: options.mode === "inference" ? options.logits ?? "all" : "all",
      one_sequence: options.batch_size === 1,
      beyond_window: family.window && family.attention[0] === "sdpa" && model.dimensions.W > 0 && options.sequence_length >= model.dimensions.W && options.mode !== "generation",
    };
    return { key, names, reasons };
  }

  const COSTS = { mode: 1e6, method: 1e5, gradient_checkpointing: 1e4, dtype: 1e3, logits: 300, targets: 200, beyond_window: 100, double_quant: 10, one_sequence: 1 };
  const USUAL = { gradient_checkpointing: false, double_quant: false, logits: "all", one_sequence: false, beyond_window: false, dtype: "float32", method: "full", targets: "" };

  /** Tables by how far their key is from the one asked for: each difference has its cost and its reason. */
  function nearest(file, { key, names, reasons }, at) {
    let best, least = Infinity, why = [];
    for (const table of file?.tables ?? []) {
      const has = (table.has ??= { ...USUAL, ...table.key });
      const missed = Object.keys(key).filter((name) => has[name] !== key[name]);
      if (key.method !== "full" && !names.includes(has.targets)) missed.push("targets");
      const cost = missed.reduce((sum, name) => sum + COSTS[name], 0) - (missed.includes("targets") && has.targets === "all-linear" ? 0.5 : 0);
      if (cost < least) [best, least, why] = [table, cost, missed];
    }
    if (!best || least >= 1e3) return undefined;
    const { smallest, period } = best.depths;
    const deep = at.L >= smallest && (at.L - smallest) % period === 0 ? [] : ["no-table-depth"];
    const tiny = Object.entries(data().reading.floors).some(([symbol, floor]) => at[symbol] < floor) ? ["no-table-dimension"] : [];
    return { table: best, reasons: [...reasons, ...deep, ...tiny, ...why.map((name) => `no-table-${name.replaceAll("_", "-")}`)] };
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

  /** Of the phases, what is loaded first, and whether they are exact: the answer that the page shows. */
  function answer(options, all, weights, counts, source, reasons, model) {
    const peak = all.reduce((most, one) => (one.peak_bytes > most.peak_bytes ? one : most));
    return {
      source, exact: source === "polynomial", reasons, peak_bytes: peak.peak_bytes, phase: { step: peak.step, name: peak.name },
      phases: all, components: peak.components,
      load_peak_bytes: window.Sitegen.loadPeakBytes(options, weights, counts.quantised, counts.parameters),
      ...window.Sitegen.intervals(peak.peak_bytes, options, source === "fixed" ? [] : reasons, model),
    };
  }

  /** Only the fixed bill: of a model known by its size alone, or without a table. @param {number} parameters */
  function fixed(options, parameters, reason) {
    const all = fixedPhases(parameters, options).map((one) => ({ ...one, components: { ...one.components, runtime: 0 } }));
    const quantised = options.method === "qlora" ? parameters : 0;
    return answer(options, all, all[0].components.weights, { parameters, quantised }, "fixed", [reason]);
  }

  /** The phases with what the process takes beside their tensors. */
  function withRuntime(all, options, model, quantised) {
    return all.map((one) => {
      const runtime = window.Sitegen.besideBytes(options, model, one.name, quantised);
      return { ...one, peak_bytes: one.peak_bytes + runtime, components: { ...one.components, runtime } };
    });
  }

  /**
   * @param {object} model what `dimensions` gives, or only {parameters}
   * @param {object} options the names of a case's options @param {object} [files] the family's files of tables, by variant
   */
  function estimate(model, options, files) {
    if (!model.dimensions) return fixed(options, model.parameters, "parameters-alone");
    const asked = wanted(data().reading.families[model.family], model, options);
    const file = files?.[model.variant] ?? files?.[Object.keys(files ?? {})[0]];
    const at = { ...model.dimensions, b: options.batch_size, s: options.sequence_length, r: options.lora_rank };
    const found = nearest(file, asked, at);
    const parameters = model.parameters ?? parametersOf(model, files) ?? 0;
    if (!found) return fixed(options, parameters, "no-table");
    const reasons = [...found.reasons, ...(files[model.variant] ? [] : ["other-variant"])];
    const quantised = quantisedOf(file, found.table, at);
    const all = phases(file, found.table, at, options);
    const shown = withRuntime(all, options, model, quantised);
    return answer(options, shown, all[0].components.weights, { parameters, quantised }, reasons.length ? "bound" : "polynomial", reasons, model);
  }

  /** Parameters of a model, from the gradients of its full training: one each. */
  function parametersOf(model, files) {
    const file = files?.[model.variant];
    const table = file?.tables.find(({ key }) => key.mode === "training" && (key.method ?? "full") === "full");
    if (!table) return undefined;
    const item = (table.key.dtype ?? "float32") === "float32" ? 4 : 2;
    return evaluated(file, { ...model.dimensions, b: 2, s: 16 })(table.gradients) / item;
  }

  const PACKED = "/2}"; // how a size is written that is packed two a byte

  /** Parameters that are held in 4 bits: twice the packed part of the weights. */
  function quantisedOf(file, table, at) {
    if (table.key.method !== "qlora") return 0;
    const packed = termsOf(file, table.phases[0].peaks[0][data().composition.components.indexOf("weights")]).filter(([text]) => text.includes(PACKED) && text.length > "{d/2}".length);
    return 2 * packed.reduce((sum, [text, factor]) => sum + factor * monomial(text)(at), 0);
  }

  return { estimate, parametersOf, phases };
})());
