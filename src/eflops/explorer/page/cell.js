"use strict";
// One number: what it is, the runs behind it, how they spread, and what they were made from.
(() => {
  const { h } = Explorer;
  const SHORT = 12;

  Explorer.findRow = (product, parameters) => {
    const fits = product.rows.map((_, row) => row).filter((row) => product.keys.every((key, place) => {
      const value = product.rows[row][place];
      return key in parameters ? Explorer.same(value, parameters[key]) : true;
    }));
    // A key that is left out of an address is one that is empty.
    const empty = (row) => product.keys.every((key, place) => key in parameters || product.rows[row][place] === null);
    return fits.find(empty) ?? fits[0] ?? null;
  };

  const runTable = (index, runs, members, metric, of) => {
    const at = (name) => (member) => Explorer.at(runs[name], member.place);
    const several = (name) => new Set(members.map(at(name))).size > 1;
    const optional = [["experiment", "experiment"], ["ratio", "N/d"], ["variant", "variant"]].filter(([name]) => several(name))
      .map(([name, title]) => ({ name: title, value: at(name) }));
    const method = several("method") ? [{ name: "method", value: at("method"), show: (member) => Explorer.label(index, at("method")(member)) }] : [];
    const columns = [
      { name: "seed", head: true, value: at("seed"), show: (member) => h("a", { href: Explorer.runAddress(runs, member.place, of), "aria-label": `seed ${at("seed")(member)}: ${Explorer.runTitle(index, runs, member.place)}` }, String(at("seed")(member))) },
      { name: "draw", value: at("draw"), show: (member) => String(at("draw")(member)) }, ...method, ...optional,
      { name: "status", value: at("status"), show: (member) => Explorer.badge(at("status")(member)) },
      { name: metric ? Explorer.words(metric) : "value", number: true, value: (member) => member.value },
      { name: "result hash", value: at("result_sha256"), show: (member) => h("span", { class: "hash", title: at("result_sha256")(member) }, at("result_sha256")(member).slice(0, SHORT)) },
    ];
    return Explorer.table({ caption: `${members.length} runs; click a seed to open its run`, columns, rows: members, most: 60 });
  };

  const origin = (runs, places) => {
    const settings = Explorer.facts(runs, places, "settings");
    const distinct = (name) => Explorer.distinct(places, (place) => Explorer.at(runs[name], place));
    const data = Explorer.distinct(places, (place) => `${Explorer.at(runs.data, place)} ${Explorer.at(runs.data_sha256, place)}`);
    const shown = (name, counts, code) => {
      const texts = counts.slice(0, 8).map(([text, count]) => h("div", {}, code ? h("code", {}, text) : text, counts.length > 1 ? ` (${count} runs)` : ""));
      return [name, [...texts, counts.length > 8 ? h("div", { class: "soft" }, `and ${counts.length - 8} more`) : null]];
    };
    return [
      h("h2", {}, "Settings that differ between these runs"),
      settings.apart.length ? h("div", { class: "panel" }, Explorer.pairs(settings.apart)) : h("p", { class: "soft" }, "None."),
      h("h2", {}, "Settings that all runs share"), h("div", { class: "panel" }, Explorer.pairs(settings.shared, true)),
      h("h2", {}, "Origin"), h("div", { class: "panel" }, Explorer.pairs([
        shown("data and its sha256", data, true), shown("commit", distinct("commit"), true), shown("code hash", distinct("code_hash"), true),
        shown("machine", distinct("machine")), shown("versions", distinct("versions"))])),
    ];
  };

  // The paper's number for a cell: that of the scorecard's line which rests on the same runs and has the same value.
  const paperOf = (index, reference, value) => {
    const [set, metric] = index.references.entries[reference];
    const place = (index.card?.lines ?? []).findIndex((line, at) => {
      const behind = index.card.behind[at];
      if (!line.paper || behind === null || typeof value !== "number" || !line.ours.length) return false;
      const [lineSet, lineMetric] = index.references.entries[behind];
      return lineSet === set && lineMetric === metric && Math.abs(line.ours[0].mean - value) < 1e-9;
    });
    return place < 0 ? null : index.card.lines[place];
  };

  const body = (index, runs, { reference, value, line, of, commands }) => {
    const { members, metric, formula } = Explorer.behind(index, runs, reference);
    const numeric = members.filter((member) => typeof member.value === "number");
    const points = numeric.map((member) => {
      const method = Explorer.at(runs.method, member.place);
      // Made when asked for: a chart of hundreds of runs asks for none of them.
      return { value: member.value, method, label: Explorer.label(index, method), get href() { return Explorer.runAddress(runs, member.place, of); },
        get title() { return `${Explorer.runTitle(index, runs, member.place)}: ${Explorer.number(member.value)}`; } };
    });
    const values = numeric.map((member) => member.value);
    const lost = members.filter((member) => Explorer.at(runs.status, member.place) === "diverged").length;
    const within = values.length && typeof value === "number" && value >= Math.min(...values) - 1e-9 && value <= Math.max(...values) + 1e-9;
    const paper = line?.paper;
    // One method's runs alone: the means of two methods' draws would mix the methods.
    const single = new Set(points.map((point) => point.method)).size === 1;
    const byDraw = single ? Object.values(Object.groupBy(numeric, (member) => `${Explorer.at(runs.ratio, member.place)} ${Explorer.at(runs.draw, member.place)}`)) : [];
    const draws = byDraw.map((group) => Explorer.mean(group.map((member) => member.value)));
    return [
      h("div", { class: "panel" }, Explorer.pairs([
        ["derivation", formula], ["runs", `${members.length}, of which ${lost} diverged`],
        ["over the runs", values.length ? `mean ${Explorer.number(Explorer.mean(values))}, sd ${Explorer.number(Explorer.sd(values))}, from ${Explorer.number(Math.min(...values))} to ${Explorer.number(Math.max(...values))}` : null],
        ["over the draws", draws.length > 1 && draws.length < values.length ? `sd ${Explorer.number(Explorer.sd(draws))} of the means of ${draws.length} draws` : null],
        ["the paper's", paper ? [`${Explorer.number(paper.value)}${paper.sd ? ` ± ${Explorer.number(paper.sd)} (its own spread, which the verdict does not use)` : ""} `, h("a", { href: Explorer.address("scorecard", { line: line.id }) }, Explorer.badge(line.verdict))] : null],
        ["why", line && line.reason !== formula ? line.reason : null]])),
      line?.ours.some((each) => each.low !== null) ? [h("h2", {}, paper ? "The interval that decides the verdict" : "The comparisons that decide the verdict"), Explorer.intervals(line)] : null,
      points.length ? h("h2", {}, "Distribution of the runs") : null,
      points.length ? Explorer.distribution(index, { points, value: within ? value : undefined, paper: paper && metric && within ? paper : null, decides: within && paper ? line.ours[0] : null, label: Explorer.words(metric || "value") }) : null,
      h("h2", {}, "On the command line"), ...commands.map(Explorer.command),
      h("h2", {}, "Runs"), runTable(index, runs, members, metric, of), ...origin(runs, members.map((member) => member.place)),
    ];
  };

  const commands = (file, words) => ["explain", "verify"].map((verb) => ["eflops", verb, file, ...words].map(Explorer.quote).join(" "));

  Explorer.views.cell = async (product, parameters) => {
    const [index, runs] = await Promise.all([Explorer.part("index"), Explorer.part("runs")]);
    const row = Explorer.findRow(product, parameters);
    const column = product.columns.indexOf(parameters.cell);
    if (row === null || column < 0) return Explorer.lost(`${product.title} has no such cell.`);
    const value = product.rows[row][product.keys.length + column];
    const given = product.keys.map((key, place) => [key, product.rows[row][place]]).filter(([, each]) => each !== null);
    const about = given.map(([key, each]) => (["method", "reference", "other"].includes(key) ? Explorer.label(index, each) : `${Explorer.words(key)} ${each}`)).join(", ");
    const head = [
      Explorer.trail([product.category, "#products"], [product.title, Explorer.address(`${product.kind}s/${product.name}`)], [`${about}, ${Explorer.words(parameters.cell)}`]),
      h("h1", {}, `${product.title}: ${about}`), h("p", { class: "soft" }, Explorer.words(parameters.cell)), h("p", { class: "value" }, Explorer.number(value))];
    const reference = product.behind[row][column];
    if (reference === null) return [...head, h("p", { class: "panel" }, "This number has no runs: it comes from reference fits, from the trials of a search or from the paper.")];
    const words = [...given.flatMap(([key, each]) => ["--row", `${key}=${each}`]), "--column", parameters.cell];
    return [...head, ...body(index, runs, { reference, value, line: paperOf(index, reference, value), of: Explorer.cellAddress(product, row, column).slice(1),
      commands: commands(`${Explorer.folder(index)}/${product.file}`, words) })];
  };

  Explorer.views.line = async (id) => {
    const [index, runs] = await Promise.all([Explorer.part("index"), Explorer.part("runs")]);
    const place = (index.card?.lines ?? []).findIndex((line) => line.id === id);
    if (place < 0) return Explorer.lost(`The scorecard has no line ${id}.`);
    const line = index.card.lines[place];
    const about = [Explorer.rowName(line), index.card.labels[line.column] ?? line.column, line.text].filter(Boolean).join(", ");
    const only = line.paper || line.ours.length === 1 ? line.ours[0] : null;  // a number's second value is that at nearest settings
    const head = [
      Explorer.trail(["Scorecard", "#scorecard"], [`${line.section}: ${line.id}`]),
      h("h1", {}, line.short || `${line.section}: ${about}`), h("p", {}, Explorer.badge(line.verdict)), only ? h("p", { class: "value" }, Explorer.number(only.mean)) : null,
      line.ours.length > 1 ? Explorer.table({ caption: "Our values", rows: Explorer.namedValues(line), columns: [{ name: "value", head: true, value: (each) => each.label },
        ...["mean", "low", "high", "n", "diverged"].map((name) => ({ name, number: true, value: (each) => each[name] }))] }) : null];
    const reference = index.card.behind[place];
    if (reference === null) return [...head, h("p", { class: "panel" }, line.reason)];
    return [...head, ...body(index, runs, { reference, value: only?.mean, line, of: Explorer.address("scorecard", { line: id }).slice(1), commands: commands(`${Explorer.folder(index)}/scorecard.json`, ["--line", id]) })];
  };

  // The runs of the number that an address names, for what is shown beside one of them.
  Explorer.membersOf = (index, runs, fragment) => {
    const { path, parameters } = Explorer.parse(fragment);
    if (path === "scorecard") {
      const place = (index.card?.lines ?? []).findIndex((line) => line.id === parameters.line);
      const reference = place < 0 ? null : index.card.behind[place];
      return reference === null ? null : Explorer.behind(index, runs, reference).members;
    }
    const product = index.products.find((each) => `${each.kind}s/${each.name}` === path);
    const row = product ? Explorer.findRow(product, parameters) : null;
    const reference = row === null ? null : product.behind[row][product.columns.indexOf(parameters.cell)];
    return reference === null || reference === undefined ? null : Explorer.behind(index, runs, reference).members;
  };
})();
