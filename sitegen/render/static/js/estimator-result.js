/** The result: the figure, its interval, what it is made of, phase by phase. Nodes are made once and then only changed. */
(() => {
  "use strict";

  const E = (window.EstimatorPage ??= {});
  const ROOM = 1.04; // the drawing ends a little beyond what it shows
  const { sources, lines: asideNames } = window.Sitegen.data.words;

  /** @param {HTMLElement} host @param {Record<string, string>} names of the components */
  E.panel = (host, names, phaseNames) => {
    const part = (name) => host.querySelector(`[data-part="${name}"]`);
    const keys = Object.keys(names);
    const panel = part("panel");
    const nodes = Object.fromEntries(
      ["source", "recap", "value", "interval", "stale", "results", "verdict", "why", "lines", "scale-card", "pinned"].map((name) => [name, part(name)]),
    );
    const told = E.told("unknown");
    const margin = E.element("span", "margin", "");
    let drawings = null; // made at the first result: until then, what the build wrote stays

    function drawn() {
      if (drawings) return drawings;
      nodes.verdict.replaceChildren(told, margin);
      const made = { gauge: drawGauge(part("gauge"), keys), components: drawComponents(part("components"), names), phases: drawPhases(part("phases"), keys) };
      return (drawings = made);
    }

    /** What is left or missing, the way that promises least. */
    function room(key, result, available) {
      const [low, high] = E.span(result);
      if (result.source === "fixed" && key === "unknown") return "les activations ne sont pas comptées";
      if (key === "fits") return `il reste au moins ${E.size(available - high)}`;
      if (key === "over") return `il manque au moins ${E.size(low - available)}`;
      return `il peut manquer ${E.size(high - available)}`;
    }

    /** The verdict on the chosen card. */
    function judge(result, place) {
      const key = E.verdict(result, place.available);
      E.retell(told, key);
      E.write(margin, E.spaced(` sur ${place.name} : ${room(key, result, place.available)}`));
      E.write(nodes.pinned, `${E.size(result.peak_bytes)} · ${E.VERDICTS[key].text}`);
      return key;
    }

    function drawAll(result, place) {
      const { gauge, components, phases } = drawn();
      const limit = place.available + place.used;
      const whole = ROOM * Math.max(limit, E.span(result)[1] + place.used);
      gauge.update(result, place, whole);
      components.update(result.components, result.peak_bytes);
      phases.update(result, phaseNames, place);
      E.write(nodes["scale-card"], E.spaced(`${place.name} : ${E.size(limit)}`));
      const at = (100 * limit) / whole;
      nodes["scale-card"].style.setProperty("--at", `${at.toFixed(2)}%`);
      nodes["scale-card"].classList.toggle("after", at < 50);
    }

    /** What is said beside the peak: the lines of a GPU or the loading of a machine, and why it is no exact trace. */
    function asides(result) {
      const lines = [];
      if (result.cuda && result.source !== "fixed") {
        lines.push([asideNames.allocated, between(result.cuda.allocated_interval_bytes)]);
        lines.push([asideNames.reserved, between(result.cuda.reserved_interval_bytes)]);
        lines.push([asideNames.device, between(result.cuda.device_interval_bytes)]);
      } else if (result.source !== "fixed") lines.push([asideNames.load, E.size(result.load_peak_bytes)]);
      if (result.source === "bound") for (const code of result.reasons) lines.push(["Réserve", E.reason(code)]);
      while (nodes.lines.children.length < lines.length) nodes.lines.append(E.element("li", "", "", E.element("strong", "")));
      [...nodes.lines.children].forEach((item, index) => {
        item.hidden = index >= lines.length;
        if (item.hidden) return;
        const name = `${lines[index][0]}${E.NO_BREAK}: `;
        if (item.firstChild.data !== name) item.firstChild.data = name;
        E.write(item.lastChild, lines[index][1]);
      });
    }

    /** Show a result. @returns {string} the verdict on the chosen card */
    function show(result, options, place, recap) {
      const fixed = result.source === "fixed";
      E.write(nodes.source, sources[result.source]);
      nodes.source.className = `badge ${result.source}`;
      E.write(nodes.recap, recap);
      E.write(nodes.value, fixed ? `≥${E.NO_BREAK}${E.size(result.peak_bytes)}` : E.size(result.peak_bytes));
      E.write(nodes.interval, fixed ? "Un plancher : les activations s’y ajoutent." : `entre ${between(result.interval_bytes, "et")}`);
      E.write(nodes.why, fixed ? E.reason(result.reasons?.[0] ?? "parameters-alone") : E.why(result, options, names));
      const key = judge(result, place);
      drawAll(result, place);
      asides(result);
      if (nodes.results.hidden) nodes.results.hidden = false;
      panel.classList.remove("is-empty");
      return key;
    }

    function markStale(stale, message) {
      panel.classList.toggle("is-stale", stale);
      if (nodes.stale.hidden === stale) nodes.stale.hidden = !stale;
      if (message) E.write(nodes.stale, message);
    }

    /** The tables are on their way. @param {boolean} waiting */
    const markWaiting = (waiting) => panel.setAttribute("aria-busy", String(waiting));

    /** Nothing to show yet. @param {string} message */
    function invite(message) {
      panel.classList.add("is-empty");
      E.write(nodes.value, message);
      nodes.results.hidden = true;
    }

    return { show, markStale, markWaiting, invite };
  };

  /** « 13,00 à 13,90 Go »: the unit once when it is the same. @param {number[]} interval @param {string} [word] */
  function between([low, high], word = "à") {
    const [from, to] = [E.size(low), E.size(high)];
    const unit = from.slice(-3);
    return to.endsWith(unit) ? `${from.slice(0, -3)} ${word} ${to}` : `${from} ${word} ${to}`;
  }

  /** The large bar: memory already in use, the components, the interval's whisker, and the card's limit. */
  function drawGauge(svg, keys) {
    const used = E.piece("used");
    const pieces = keys.map(E.piece);
    [used, ...pieces].forEach((rectangle) => E.set(rectangle, "height", "34"));
    const whisker = E.drawn("line", { class: "whisker", y1: 42, y2: 42 });
    const ends = [0, 1].map(() => E.drawn("line", { class: "whisker", y1: 38, y2: 46 }));
    const limit = E.drawn("line", { class: "limit", y1: 0, y2: 50 });
    svg.replaceChildren(used, ...pieces, whisker, ...ends, limit);
    function update(result, place, whole) {
      E.stack([used, ...pieces], [place.used, ...keys.map((key) => result.components[key] ?? 0)], whole);
      const [low, high] = E.span(result).map((bytes) => E.across((bytes + place.used) / whole));
      E.set(whisker, "x1", low);
      E.set(whisker, "x2", high);
      [low, high].forEach((x, index) => ["x1", "x2"].forEach((name) => E.set(ends[index], name, x)));
      ["x1", "x2"].forEach((name) => E.set(limit, name, E.across((place.available + place.used) / whole)));
    }
    return { update };
  }

  /** The table of components at the peak; those that weigh nothing are not shown. */
  function drawComponents(body, names) {
    body.replaceChildren(); // what was there before the script
    const rows = Object.entries(names).map(([key, name]) => {
      const heading = E.element("th", "", E.swatch(key), name);
      heading.scope = "row";
      const [size, share] = [E.element("td", "numeric"), E.element("td", "numeric share")];
      const row = E.element("tr", "", heading, size, share);
      row.hidden = true;
      body.append(row);
      return { key, row, size, share };
    });

    function update(at, peak) {
      for (const { key, row, size, share } of rows) {
        const bytes = at[key] ?? 0;
        if (row.hidden === bytes > 0) row.hidden = bytes <= 0;
        if (bytes <= 0) continue;
        E.write(size, E.size(bytes));
        E.write(share, E.percent(bytes / peak));
      }
    }
    return { update };
  }

  /** The table of phases, each with its bar; all bars have one scale. */
  function drawPhases(body, keys) {
    body.replaceChildren(); // what was there before the script
    const rows = [];

    function grow() {
      const heading = E.element("th", "");
      heading.scope = "row";
      const svg = E.drawn("svg", { class: "phase-bar", "aria-hidden": "true", focusable: "false" });
      const pieces = keys.map(E.piece);
      const limit = E.drawn("line", { class: "limit", y1: 0, y2: "100%" });
      svg.append(...pieces, limit);
      const size = E.element("td", "numeric");
      const row = E.element("tr", "", heading, E.element("td", "bar-cell", svg), size);
      body.append(row);
      rows.push({ row, heading, pieces, limit, size });
    }

    function update(result, phaseNames, place) {
      while (rows.length < result.phases.length) grow();
      const whole = ROOM * result.phases.reduce((most, phase) => Math.max(most, phase.peak_bytes), result.peak_bytes);
      const several = result.phases.some((phase) => phase.step > 1);
      const limit = place.available <= whole ? E.across(place.available / whole) : "-10";
      rows.forEach(({ row, heading, pieces, limit: rule, size }, index) => {
        const phase = result.phases[index];
        if (row.hidden === Boolean(phase)) row.hidden = !phase;
        if (!phase) return;
        const name = phaseNames[phase.name] ?? phase.name;
        E.write(heading, several ? `${phase.step}. ${name}` : name);
        row.classList.toggle("peaks", phase.step === result.phase.step && phase.name === result.phase.name);
        E.stack(pieces, keys.map((key) => phase.components[key] ?? 0), whole);
        ["x1", "x2"].forEach((end) => E.set(rule, end, limit));
        E.write(size, E.size(phase.peak_bytes));
      });
    }
    return { update };
  }

  Object.assign(E, { between });
})();
