/**
 * What a run takes beside its tensors, and how far its peak may lie from the sum: sitegen/memory/runtime.py, intervals.py, cuda.py,
 * bounds.py and the loading of estimate.py, function by function, from their own figures (`Sitegen.data`). Sizes are bytes.
 */
window.Sitegen = Object.assign(window.Sitegen ?? {}, (() => {
  "use strict";

  const data = () => window.Sitegen.data;
  const ITEM_BYTES = { float32: 4, bfloat16: 2, float16: 2 };
  const trains = (options) => options.mode === "training";

  /** The nearest whole number, the even one of two: as Python rounds. @param {number} value */
  function rounded(value) {
    const below = Math.floor(value);
    return value - below === 0.5 ? below + (below % 2) : Math.round(value);
  }

  // ---- The pages of the process (runtime.py) ----

  /** The buffer that a large float32 product of the output layer leaves behind. */
  function packedBytes(options, at) {
    const { packing, runtime } = data();
    const prepared = trains(options) && options.method === "qlora";
    if ((options.dtype !== "float32" && !prepared) || options.mixed_precision !== "none" || headRows(options) < packing.rows) return 0;
    const [least, most] = packing.depths;
    const panels = (options.threads || runtime.threads) * packing.columns * Math.min(Math.max(at.h, least), most);
    return ITEM_BYTES.float32 * Math.min(at.h * at.V, panels);
  }

  /** Positions whose logits are computed at once. */
  function headRows(options) {
    if (options.mode === "generation" || options.logits === "last") return options.batch_size;
    const tokens = options.batch_size * options.sequence_length;
    return options.loss === "chunked" ? Math.min(tokens, data().packing.chunk_tokens) : tokens;
  }

  /** Whether weights are still views of their file: peft's k-bit preparation copies all that is not in float32. */
  const isMapped = (options) => !(trains(options) && options.method === "qlora" && options.dtype !== "float32");

  /** Pages of the file that stay although what was read there is quantised or merged elsewhere. */
  function keptBytes(options, model, quantised) {
    if (!isMapped(options)) return 0;
    const { E = 0, L, h, ...at } = model.dimensions;
    const width = at[data().merged[model.family]] ?? 0;
    return ITEM_BYTES[options.dtype] * (quantised + 3 * L * E * h * width);
  }

  /** Pages of mapped embeddings that nothing reads: frozen ones of their own, but for the rows drawn. */
  function untouchedBytes(options, model) {
    const trained = trains(options) && (options.method === "full" || (options.modules_to_save ?? []).includes("embed_tokens"));
    if (model.variant.startsWith("tied") || trained || !isMapped(options)) return 0;
    return ITEM_BYTES[options.dtype] * model.dimensions.h * Math.max(0, model.dimensions.V - data().packing.drawn_ids);
  }

  /** What was measured of a way of running, else the most of those most like it. */
  function wayBytes(options, phase) {
    const way = [options.mode, options.method, options.mixed_precision === "bf16" ? "mixed" : options.dtype];
    for (let length = way.length; length >= 0; length -= 1) {
      const alike = data().runtime.ways.filter(([other]) => way.slice(0, length).every((part, index) => part === other[index]));
      if (alike.length) return Math.max(...alike.map(([, phases]) => phases[phase] ?? Math.max(...Object.values(phases))));
    }
    return 0;
  }

  /** What a layer adds: that of the mode and the method, else the most of the mode's. */
  function layerBytes({ mode, method }) {
    const same = data().runtime.layers.filter(([[known]]) => known === mode);
    const [exact] = same.filter(([[, known]]) => known === method);
    return exact ? exact[1] : Math.max(0, ...same.map(([, bytes]) => bytes));
  }

  /** What the options that bring code of their own add. */
  function optionBytes(options) {
    const last = options.mode === "inference" && options.logits === "last";
    const names = [options.optimizer === "adamw" ? "" : options.optimizer, options.gradient_checkpointing ? "gradient_checkpointing" : "", last ? "last_logits" : ""];
    return names.reduce((sum, name) => sum + (data().runtime.options[name] ?? 0), 0);
  }

  /** Whether the keys of a training step are so small that glibc's heap holds them, which only a trace can count (tabled.py). */
  function hasSmallTensors(options, { dimensions: at }) {
    if (!trains(options) || options.device === "cuda") return false;
    const keys = options.batch_size * options.sequence_length * (at.K ?? at.H) * (at.d ?? Math.floor(at.h / at.H));
    return keys * (options.dtype === "bfloat16" ? 2 : 4) < data().mmap_threshold_bytes;
  }

  const handles = (options) => (trains(options) ? 2 : 1);

  /** What a phase takes beyond its tensors. @param {number} quantised parameters held in 4 bits */
  function besideBytes(options, model, phase, quantised) {
    if (options.device === "cuda") return handles(options) * data().cuda.workspace_bytes;
    if (!data().runtime) return 0;
    const told = packedBytes(options, model.dimensions) + keptBytes(options, model, quantised) - untouchedBytes(options, model);
    return told + wayBytes(options, phase) + optionBytes(options) + model.dimensions.L * layerBytes(options);
  }

  /** What loading makes resident at most: the weights, and the originals of what is quantised or copied. */
  function loadPeakBytes(options, weights, quantised, parameters) {
    const originals = isMapped(options) ? quantised : parameters;
    return weights + originals * ITEM_BYTES[options.dtype] + data().loading_bytes;
  }

  // ---- How far off (bounds.py, intervals.py, cuda.py) ----

  /** Between which sizes a peak lies whose case differs from the table's. @param {string[]} reasons */
  function bounded(peak, reasons) {
    return reasons.reduce(([low, high], reason) => {
      const [least, most] = data().bounds[reason] ?? data().bounds.unknown;
      return [low * least, high * most];
    }, [peak, peak]).map(rounded);
  }

  /** Under the case's allocator, of a peak between two sizes. */
  function hostInterval([low, high], peak, options, model) {
    const error = Math.max(rounded(data().interval.share * peak), data().interval.floor_bytes);
    const unread = model && options.mode === "generation" ? untouchedBytes(options, model) : 0; // a generated token may be any
    const fixed = [Math.max(0, low - error), high + error + unread];
    if (options.allocator === "fixed") return fixed;
    const kind = options.method !== "full" ? "adapter" : options.gradient_checkpointing ? "checkpointing" : "plain";
    const ratios = data().ratios[options.allocator][`${options.mode}-${kind}`];
    return fixed.map((bytes, index) => rounded(bytes * ratios[index]));
  }

  /** What PyTorch allocates and reserves, and what the driver counts. */
  function cudaLines([low, high], options) {
    const { hopper_extra_bytes, allocated_error, device_ratios, context_bytes } = data().cuda;
    const highest = high + handles(options) * hopper_extra_bytes;
    const device = [rounded(low * device_ratios[0]), Math.max(rounded(highest * device_ratios[2]), highest + context_bytes)];
    return {
      allocated_interval_bytes: [rounded(low * allocated_error[0]), rounded(highest * allocated_error[1])],
      reserved_interval_bytes: [low, device[1]],
      device_interval_bytes: device,
    };
  }

  /**
   * A peak's interval and, on CUDA, the three lines.
   * @param {string[]} reasons why no table is exact for the case @param {object} [model] none where only the parameters are known
   */
  function intervals(peak, options, reasons, model) {
    const between = bounded(peak, reasons);
    if (options.device !== "cuda") return { interval_bytes: hostInterval(between, peak, options, model) };
    const cuda = cudaLines(between, options);
    return { interval_bytes: cuda.allocated_interval_bytes, cuda };
  }

  return { besideBytes, hasSmallTensors, loadPeakBytes, intervals };
})());
