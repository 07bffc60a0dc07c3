"use strict";
// The page's data: parts that are inflated once, when first asked for, and runs as columns.
(() => {
  const inflated = {};

  const inflate = async (name) => {
    const text = document.getElementById(`part-${name}`).textContent;
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let place = 0; place < letters.length; place++) bytes[place] = letters.charCodeAt(place);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };

  Explorer.has = (name) => document.getElementById(`part-${name}`) !== null;
  Explorer.part = (name) => (inflated[name] ??= inflate(name));

  // A column is a list, or distinct values `of` with each entry's place `at` among them.
  Explorer.at = (column, place) => (column.of ? column.of[column.at[place]] : column[place]);

  Explorer.unstep = (steps) => { let sum = 0; return steps.map((step) => (sum += step)); };

  Explorer.runPath = (runs, place) => runs.path[place].replace(/\.json$/, "");
  Explorer.runAddress = (runs, place, of) => Explorer.address(`run/${Explorer.runPath(runs, place)}`, { of });

  Explorer.runTitle = (index, runs, place) => {
    const at = (name) => Explorer.at(runs[name], place);
    const ratio = at("ratio") === null ? "" : ` at N/d ${at("ratio")}`;
    const variant = at("variant") === "base" ? "" : `, ${at("variant")}`;
    return `${Explorer.label(index, at("method"))} on ${at("dataset")}${ratio}${variant}, draw ${at("draw")}, seed ${at("seed")}`;
  };

  Explorer.label = (index, method) => index.methods[method]?.label ?? method;

  // Black lines would vanish on a dark ground.
  Explorer.colour = (index, method) => {
    const colour = index.methods[method]?.colour ?? "#7F7F7F";
    const dark = document.documentElement.dataset.theme === "dark";
    return dark && colour === "#000000" ? "#f0f0f0" : colour;
  };

  // Matplotlib's marker v, which D3 has no symbol for.
  const down = { draw(context, size) {
    const half = Math.sqrt(size / 1.7);
    context.moveTo(-half, -half * 0.75);
    context.lineTo(half, -half * 0.75);
    context.lineTo(0, half);
    context.closePath();
  } };
  // Matplotlib's filled X: D3's is drawn with strokes alone.
  const cross = { draw(context, size) {
    const [far, near] = [Math.sqrt(size / 1.6), Math.sqrt(size / 1.6) / 2];
    const corners = [[0, near], [near, far], [far, near], [near, 0], [far, -near], [near, -far], [0, -near], [-near, -far], [-far, -near], [-near, 0], [-far, near], [-near, far]];
    corners.forEach(([x, y], place) => (place ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
  } };
  const SYMBOLS = { o: "circle", s: "square", "^": "triangle", v: down, D: "diamond", P: "cross", X: cross, "*": "star", h: "hexagon", p: "wye", d: "diamond2" };
  Explorer.symbol = (index, method) => SYMBOLS[index.methods[method]?.marker] ?? "circle";

  const sum = (numbers) => Object.values(numbers).reduce((total, number) => total + number, 0);
  const sent = (traffic, phase) => (traffic[phase] ? traffic[phase].up + traffic[phase].down : null);

  // Numbers of a run besides its final metrics that a person may want to see against something.
  Explorer.MEASURES = {
    kept: (runs, place) => runs.kept[place],
    macs: (runs, place) => sum(Explorer.at(runs.macs, place)),
    bytes_training: (runs, place) => sent(Explorer.at(runs.traffic, place), "training"),
    bytes_finetuning: (runs, place) => sent(Explorer.at(runs.traffic, place), Object.keys(Explorer.at(runs.traffic, place))[1]),
    cpu_seconds: (runs, place) => Explorer.at(runs.cpu_seconds, place) / Explorer.at(runs.runs_in_batch, place),
  };
  Explorer.measure = (runs, name, place) => {
    const value = name in runs.metrics ? runs.metrics[name][place] : Explorer.MEASURES[name]?.(runs, place);
    return value === undefined ? null : value;
  };

  // The runs behind a number, each with what it contributes.
  Explorer.behind = (index, runs, reference) => {
    const [set, metric, values, formula] = index.references.entries[reference];
    const contributions = values === null ? null : index.references.values[values];
    const members = index.references.sets[set].map((place, order) => ({
      place, value: contributions ? contributions[order] : metric in runs.metrics ? runs.metrics[metric][place] : null }));
    return { members, metric, formula: index.references.formulas[formula], set };
  };
})();
