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
    unit: (row) => Explorer.at(runs.draw, row), address: (row) => Explorer.runAddress(runs, row), title: (index, row) => Explorer.runTitle(index, runs, row) });

  const trialRows = (trials) => ({
    kinds: [], measures: Object.keys(trials).filter((name) => !["method", "variant", "settings"].includes(name)), identity: ["variant"], pairing: ["variant"],
    rows: trials.method.map((_, place) => place), is: (name, row) => trials[name][row], settings: (row) => Object.fromEntries(Object.entries(trials.settings).map(([name, values]) => [name, values[row]])),
    measure: (name, row) => trials[name][row], method: (row) => trials.method[row], unit: (row) => row, address: () => undefined,
    title: (index, row) => `${Explorer.label(index, trials.method[row])}, ${trials.variant[row]}` });

  const choice = (state, name, label, options, change) => h("label", {}, label, h("select", { name, change: (event) => change(name, event.target.value) },
    options.map(([value, text]) => h("option", { value, selected: String(state[name]) === String(value) }, text))));

  const varying = (source, rows) => {
    const seen = new Map();
    // Runs with the same settings share one object.
    for (const settings of new Set(rows.map(source.settings))) for (const [name, value] of Object.entries(settings)) {
      if (value === null || value === undefined) continue;
      (seen.get(name) ?? seen.set(name, new Set()).get(name)).add(JSON.stringify(value));
    }
    return [...seen].filter(([, values]) => values.size > 1).map(([name]) => name);
  };

  const xOf = (source, name) => (row) => {
    const value = name.startsWith("set_") ? source.settings(row)[name.slice(4)] : source.is(name, row);
    return value === null || value === undefined ? null : typeof value === "object" || typeof value === "boolean" ? String(value) : value;
  };

  // The experiment with the most runs.
  const largest = (source) => {
    const sizes = Object.entries(Object.groupBy(source.rows, (row) => source.is("experiment", row))).map(([name, rows]) => [rows.length, name]);
    return sizes.toSorted(([one], [other]) => other - one)[0][1];
  };

  // What is paired: two methods, or two variants of one method; `name:value`, a bare name is a method.
  const side = (text) => { const [name, ...rest] = (text ?? "").split(":"); return rest.length ? [name, rest.join(":")] : ["method", name]; };
  const sideLabel = (index, [kind, value]) => (kind === "method" ? Explorer.label(index, value) : value);

  const paired = (index, source, rows, one, other, measure, x, panel) => {
    const of = (row, kind) => (kind === "method" ? source.method(row) : source.is(kind, row));
    const keys = ["method", ...source.pairing].filter((key) => key !== one[0]);
    const name = (row) => JSON.stringify(keys.map((key) => of(row, key)));
    const others = new Map(rows.filter((row) => of(row, other[0]) === other[1]).map((row) => [name(row), row]));
    return rows.filter((row) => of(row, one[0]) === one[1] && others.has(name(row))).map((row) => {
      const y = measure(row) === null || measure(others.get(name(row))) === null ? null : measure(row) - measure(others.get(name(row)));
      return { x: x(row), y, method: source.method(row), unit: source.unit(row), ...panel(row), href: source.address(row), title: `${source.title(index, row)} minus ${sideLabel(index, other)}: ${Explorer.number(y)}` };
    });
  };

  // The points of one method, panel and x: their mean with its 95 % interval over draws, or over runs where there is one draw.
  const groups = (points) => {
    const found = new Map();
    for (const point of points) {
      const name = JSON.stringify([point.method, point.panel ?? null, point.x]);
      (found.get(name) ?? found.set(name, { method: point.method, x: point.x, panel: point.panel, fx: point.fx, fy: point.fy, points: [] }).get(name)).points.push(point);
    }
    return [...found.values()].map((group) => {
      const values = group.points.map((point) => point.y);
      const draws = Object.values(Object.groupBy(group.points, (point) => point.unit)).map((each) => Explorer.mean(each.map((point) => point.y)));
      const units = draws.length > 1 ? draws : values;
      return { ...group, n: values.length, units: units.length, y: Explorer.mean(units), sd: Explorer.sd(units), ...(Explorer.interval(units) ?? { low: null, high: null }) };
    });
  };

  const median = (values) => { const sorted = values.toSorted((one, other) => one - other); const half = sorted.length >> 1; return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2; };

  const describe = (points, lost, pair) => {
    const values = points.map((point) => point.y);
    if (!values.length) return "Nothing matches these choices.";
    const spread = `mean ${Explorer.number(Explorer.mean(values))}, median ${Explorer.number(median(values))}`;
    const missing = lost ? `; ${lost} have no value` : "";
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
      if (source.kinds.length && !(state.experiment === ALL || distinct("experiment", source.rows).includes(state.experiment))) state.experiment = largest(source);
      let rows = source.rows.filter((row) => source.kinds.every((name) => !state[name] || state[name] === ALL || Explorer.same(source.is(name, row), state[name])));
      const methods = Object.keys(index.methods).filter((method) => rows.some((row) => source.method(row) === method));
      const hidden = new Set((state.without ?? "").split(",").filter(Boolean));
      const measures = source.measures.filter((name) => rows.some((row) => typeof source.measure(name, row) === "number"));
      const settings = varying(source, rows).map((name) => `set_${name}`);
      const over = [...source.identity.filter((name) => distinct(name, rows).length > 1), ...settings];
      if (!measures.includes(state.y)) state.y = ["score", "support_recovery", "accuracy"].find((name) => measures.includes(name)) ?? measures[0];
      // First what every run has: a setting that some methods lack would leave them out.
      const complete = (name) => rows.every((row) => xOf(source, name)(row) !== null);
      if (!over.includes(state.x)) state.x = ["set_temperature", "ratio", ...settings].find((name) => over.includes(name) && complete(name)) ?? over[0];
      const variants = source.identity.includes("variant") ? distinct("variant", rows) : [];
      const sides = [...methods.map((method) => [`method:${method}`, Explorer.label(index, method)]), ...(variants.length > 1 && variants.length <= 60 ? variants.map((variant) => [`variant:${variant}`, `variant ${variant}`]) : [])];
      const [one, other] = [side(state.one), side(state.other)];
      const known = (each) => (each[0] === "method" ? methods : variants).includes(each[1]);
      const pair = known(one) && known(other) && one[0] === other[0] && one[1] !== other[1];
      // Sizes are not pooled: unless one is chosen, or stands on an axis, each has a panel of its own.
      const ratios = source.kinds.includes("ratio") ? distinct("ratio", rows).filter((value) => value !== null).toSorted((first, second) => first - second) : [];
      const split = ratios.length > 1 && state.x !== "ratio";
      const across = document.documentElement.clientWidth > 700;
      const panel = (row) => { const ratio = split ? source.is("ratio", row) : null; return ratio === null ? {} : { panel: ratio, [across ? "fx" : "fy"]: ratio, [across ? "fxName" : "fyName"]: "N/d" }; };
      const names = (list) => list.map((name) => [name, Explorer.words(name)]);
      controls.replaceChildren(
        choice(state, "of", "of", [["", "runs of experiments"], ...Object.keys(trials).map((name) => [name, `trials of the search ${name}`])], change),
        ...source.kinds.map((name) => choice(state, name, Explorer.words(name), [[ALL, "all"], ...distinct(name, source.rows).filter((value) => value !== null).toSorted((one, other) => (typeof one === "number" ? one - other : 0)).map((value) => [value, String(value)])], change)),
        choice(state, "y", "metric", names(measures), change), choice(state, "x", "over", names(over), change),
        choice({ one: state.one ? one.join(":") : "" }, "one", "pair", [["", "no pairs"], ...sides], change),
        choice({ other: state.other ? other.join(":") : "" }, "other", "minus", [["", "–"], ...sides], change),
        h("fieldset", { style: "grid-column: 1 / -1" }, h("legend", {}, "methods"), methods.map((method) => h("label", {}, h("input", { type: "checkbox", checked: !hidden.has(method),
          change: (event) => { if (event.target.checked) hidden.delete(method); else hidden.add(method); change("without", [...hidden].join(",")); } }), " ", Explorer.label(index, method)))));
      rows = rows.filter((row) => (pair && one[0] === "method") || !hidden.has(source.method(row)));
      const x = over.length ? xOf(source, state.x) : (row) => source.method(row);
      const measure = (row) => source.measure(state.y, row);
      const all = pair ? paired(index, source, rows, one, other, measure, x, panel)
        : rows.map((row) => ({ x: x(row), y: measure(row), method: source.method(row), unit: source.unit(row), ...panel(row), href: source.address(row), title: `${source.title(index, row)}: ${Explorer.number(measure(row))}` }));
      const points = all.filter((point) => point.x !== null && typeof point.y === "number");
      const found = groups(points);
      const label = pair ? `${Explorer.words(state.y)}, ${sideLabel(index, one)} minus ${sideLabel(index, other)}` : Explorer.words(state.y);
      const overName = Explorer.words(state.x ?? "");
      const chart = points.length ? Explorer.scatter(index, { points, x: overName, y: label, means: found.length < points.length ? found.filter((group) => group.n > 1) : null, zero: pair, label: `${label} over ${overName}`, height: split && !across ? 60 + ratios.length * 170 : 420, wide: true }) : null;
      const panels = split ? [{ name: "N/d", value: (group) => group.panel }] : [];
      const columns = [{ name: "method", head: true, value: (group) => Explorer.label(index, group.method) }, ...panels, { name: overName, value: (group) => group.x },
        { name: "n", number: true, value: (group) => group.n }, { name: "units", number: true, value: (group) => group.units }, { name: "mean", number: true, value: (group) => group.y },
        { name: "sd", number: true, value: (group) => group.sd }, { name: "low", number: true, value: (group) => group.low }, { name: "high", number: true, value: (group) => group.high }];
      const saveRows = () => Explorer.download("compare.csv", "text/csv", Explorer.csv(["method", "ratio", state.x ?? "", label, "run"], points.map((point) => [point.method, point.panel ?? null, point.x, point.y, point.title.replace(/: [^:]*$/, "")])));
      const saveChart = () => Explorer.download("compare.svg", "image/svg+xml", Explorer.svg(chart));
      result.replaceChildren(h("p", {}, describe(points, all.length - points.length, pair)), ...(chart ? [chart,
        h("p", { class: "downloads" }, h("button", { type: "button", name: "csv", click: saveRows }, "Points as CSV"), " ", h("button", { type: "button", name: "svg", click: saveChart }, "Chart as SVG")),
        Explorer.table({ caption: "Means of these points; sd and 95 % interval over draws, over runs where there is one draw", rows: found, most: 40, columns })] : []));
      if (moved) {
        const focused = document.activeElement?.name;
        history.replaceState(null, "", Explorer.address("compare", state));
        if (focused) controls.elements[focused]?.focus?.();
      }
    };
    draw(false);
    return [Explorer.trail(["Compare"]), h("h1", {}, "Compare"), h("p", { class: "soft" }, "Each point is a run; click it to open the run. A trial of a search is a score over several draws, so it has no single run."), controls, result];
  };
})();
