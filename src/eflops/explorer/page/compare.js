"use strict";
// Any metric over any setting, of runs or of a search's trials; two methods paired where they ran alike.
(() => {
  const { h } = Explorer;
  const IDENTITY = ["ratio", "variant", "draw", "seed", "experiment", "dataset"];
  const ALL = "all";

  // Runs of experiments and trials of searches in one shape: what each row is, its settings, its measures.
  const runRows = (runs) => ({
    kinds: ["experiment", "dataset", "ratio"], measures: [...Object.keys(runs.metrics), ...Object.keys(Explorer.MEASURES)], identity: IDENTITY,
    pairing: ["experiment", "ratio", "variant", "draw", "seed"],
    rows: runs.path.map((_, place) => place), is: (name, row) => Explorer.at(runs[name], row), settings: (row) => Explorer.at(runs.settings, row),
    measure: (name, row) => Explorer.measure(runs, name, row), method: (row) => Explorer.at(runs.method, row),
    address: (row) => Explorer.runAddress(runs, row), title: (index, row) => Explorer.runTitle(index, runs, row) });

  const trialRows = (trials) => ({
    kinds: [], measures: Object.keys(trials).filter((name) => !["method", "variant", "settings"].includes(name)), identity: ["variant"], pairing: ["variant"],
    rows: trials.method.map((_, place) => place), is: (name, row) => trials[name][row], settings: (row) => Object.fromEntries(Object.entries(trials.settings).map(([name, values]) => [name, values[row]])),
    measure: (name, row) => trials[name][row], method: (row) => trials.method[row], address: () => undefined,
    title: (index, row) => `${Explorer.label(index, trials.method[row])}, ${trials.variant[row]}` });

  const choice = (state, name, label, options, change) => h("label", {}, label, h("select", { name, change: (event) => change(name, event.target.value) },
    options.map(([value, text]) => h("option", { value, selected: String(state[name]) === String(value) }, text))));

  const varying = (source, rows) => {
    const seen = new Map();
    for (const row of rows) for (const [name, value] of Object.entries(source.settings(row))) {
      if (value === null || value === undefined) continue;
      (seen.get(name) ?? seen.set(name, new Set()).get(name)).add(JSON.stringify(value));
    }
    return [...seen].filter(([, values]) => values.size > 1).map(([name]) => name);
  };

  const xOf = (source, name) => (row) => {
    const value = name.startsWith("set_") ? source.settings(row)[name.slice(4)] : source.is(name, row);
    return value === null || value === undefined ? null : typeof value === "object" || typeof value === "boolean" ? String(value) : value;
  };

  const paired = (index, source, rows, [one, other], measure, x) => {
    const name = (row) => JSON.stringify(source.pairing.map((key) => source.is(key, row)));
    const others = new Map(rows.filter((row) => source.method(row) === other).map((row) => [name(row), row]));
    return rows.filter((row) => source.method(row) === one && others.has(name(row))).map((row) => {
      const y = measure(row) === null || measure(others.get(name(row))) === null ? null : measure(row) - measure(others.get(name(row)));
      return { x: x(row), y, method: one, href: source.address(row), title: `${source.title(index, row)} minus ${Explorer.label(index, other)}: ${Explorer.number(y)}` };
    });
  };

  const groups = (points) => {
    const found = new Map();
    for (const point of points) {
      const name = JSON.stringify([point.method, point.x]);
      (found.get(name) ?? found.set(name, { method: point.method, x: point.x, values: [] }).get(name)).values.push(point.y);
    }
    return [...found.values()].map((group) => ({ ...group, n: group.values.length, y: Explorer.mean(group.values), sd: Explorer.sd(group.values) }));
  };

  const median = (values) => { const sorted = values.toSorted((one, other) => one - other); const half = sorted.length >> 1; return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2; };

  const told = (points, lost, pair) => {
    const values = points.map((point) => point.y);
    if (!values.length) return "Nothing fits these choices.";
    const spread = `mean ${Explorer.number(Explorer.mean(values))}, median ${Explorer.number(median(values))}`;
    const missing = lost ? `; ${lost} have no such number` : "";
    return pair ? `${values.length} pairs: ${spread}, above 0 in ${values.filter((value) => value > 0).length}${missing}.` : `${values.length} points: ${spread}${missing}.`;
  };

  Explorer.views.compare = async (parameters) => {
    const [index, runs, trials] = await Promise.all(["index", "runs", "trials"].map(Explorer.part));
    const state = { ...parameters };
    const controls = h("form", { class: "choices panel", submit: (event) => event.preventDefault(), "aria-label": "What to compare" });
    const result = h("div", { "aria-live": "polite" });
    const change = (name, value) => { state[name] = value; if (name === "of") for (const key of ["x", "y", "one", "other", "experiment", "ratio", "dataset"]) delete state[key]; draw(true); };

    const draw = (moved) => {
      const source = state.of in trials ? trialRows(trials[state.of]) : runRows(runs);
      const distinct = (name, rows) => [...new Set(rows.map((row) => source.is(name, row)))];
      if (source.kinds.length && !(state.experiment === ALL || distinct("experiment", source.rows).includes(state.experiment))) state.experiment = distinct("experiment", source.rows)[0];
      let rows = source.rows.filter((row) => source.kinds.every((name) => !state[name] || state[name] === ALL || Explorer.same(source.is(name, row), state[name])));
      const methods = Object.keys(index.methods).filter((method) => rows.some((row) => source.method(row) === method));
      const hidden = new Set((state.without ?? "").split(",").filter(Boolean));
      const measures = source.measures.filter((name) => rows.some((row) => typeof source.measure(name, row) === "number"));
      const settings = varying(source, rows).map((name) => `set_${name}`);
      const over = [...source.identity.filter((name) => distinct(name, rows).length > 1), ...settings];
      if (!measures.includes(state.y)) state.y = ["score", "support_recovery", "accuracy"].find((name) => measures.includes(name)) ?? measures[0];
      if (!over.includes(state.x)) state.x = ["set_temperature", "ratio", ...settings].find((name) => over.includes(name)) ?? over[0];
      const pair = methods.includes(state.one) && methods.includes(state.other) && state.one !== state.other ? [state.one, state.other] : null;
      const names = (list) => list.map((name) => [name, Explorer.words(name)]);
      controls.replaceChildren(
        choice(state, "of", "of", [["", "runs of experiments"], ...Object.keys(trials).map((name) => [name, `trials of the search ${name}`])], change),
        ...source.kinds.map((name) => choice(state, name, Explorer.words(name), [[ALL, "all"], ...distinct(name, source.rows).filter((value) => value !== null).toSorted((one, other) => (typeof one === "number" ? one - other : 0)).map((value) => [value, String(value)])], change)),
        choice(state, "y", "metric", names(measures), change), choice(state, "x", "over", names(over), change),
        choice(state, "one", "pair", [["", "no pairs"], ...methods.map((method) => [method, Explorer.label(index, method)])], change),
        choice(state, "other", "minus", [["", "–"], ...methods.map((method) => [method, Explorer.label(index, method)])], change),
        h("fieldset", { style: "grid-column: 1 / -1" }, h("legend", {}, "methods"), methods.map((method) => h("label", {}, h("input", { type: "checkbox", checked: !hidden.has(method),
          change: (event) => { if (event.target.checked) hidden.delete(method); else hidden.add(method); change("without", [...hidden].join(",")); } }), " ", Explorer.label(index, method)))));
      rows = rows.filter((row) => pair || !hidden.has(source.method(row)));
      const x = over.length ? xOf(source, state.x) : (row) => source.method(row);
      const measure = (row) => source.measure(state.y, row);
      const all = pair ? paired(index, source, rows, pair, measure, x)
        : rows.map((row) => ({ x: x(row), y: measure(row), method: source.method(row), href: source.address(row), title: `${source.title(index, row)}: ${Explorer.number(measure(row))}` }));
      const points = all.filter((point) => point.x !== null && typeof point.y === "number");
      const found = groups(points);
      const label = pair ? `${Explorer.words(state.y)}, ${Explorer.label(index, pair[0])} minus ${Explorer.label(index, pair[1])}` : Explorer.words(state.y);
      result.replaceChildren(h("p", {}, told(points, all.length - points.length, pair)),
        ...(points.length ? [Explorer.scatter(index, { points, x: Explorer.words(state.x ?? ""), y: label, means: found.length < points.length ? found.filter((group) => group.n > 1) : null, zero: Boolean(pair), label: `${label} over ${Explorer.words(state.x ?? "")}`, height: 420, wide: true }),
          Explorer.table({ caption: "Means of these points", rows: found, most: 40, columns: [{ name: "method", head: true, value: (group) => Explorer.label(index, group.method) }, { name: Explorer.words(state.x ?? ""), value: (group) => group.x },
            { name: "n", number: true, value: (group) => group.n }, { name: "mean", number: true, value: (group) => group.y }, { name: "sd", number: true, value: (group) => group.sd }] })] : []));
      if (moved) {
        const focused = document.activeElement?.name;
        history.replaceState(null, "", Explorer.address("compare", state));
        if (focused) controls.elements[focused]?.focus?.();
      }
    };
    draw(false);
    return [Explorer.trail(["Compare"]), h("h1", {}, "Compare"), h("p", { class: "soft" }, "Every run as a point; a point opens its run. Trials of a search have a score over its draws and no run of their own here."), controls, result];
  };
})();
