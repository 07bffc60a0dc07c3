"use strict";
// One run: its curve beside the others of its number, what it sent and computed, what it kept, and its record.
(() => {
  const { h } = Explorer;

  const alike = (runs, own) => {
    const names = ["experiment", "ratio", "method", "variant"];
    return runs.path.map((_, place) => place).filter((place) => names.every((name) => Explorer.at(runs[name], place) === Explorer.at(runs[name], own)))
      .map((place) => ({ place }));
  };

  const curve = (index, runs, curves, own, members, metric) => {
    const lines = members.filter((member) => metric in curves.metrics[member.place]).map((member) => ({
      ...Explorer.at(curves.where, member.place), values: curves.metrics[member.place][metric], run: runs.path[member.place],
      method: Explorer.at(runs.method, member.place), own: member.place === own }));
    return Explorer.curves(index, { lines, metric, label: `${Explorer.words(metric)} over rounds; ${lines.length - 1} other runs in grey` });
  };

  const curveSection = (index, runs, curves, own, members) => {
    const metrics = Object.keys(curves.metrics[own]);
    if (!metrics.length) return null;
    const preferred = ["accuracy", "support_recovery", "r2"].find((name) => metrics.includes(name)) ?? metrics[0];
    const holder = h("div");
    const choice = h("select", { id: "metric", change: () => draw() }, metrics.map((name) => h("option", { value: name, selected: name === preferred }, Explorer.words(name))));
    const draw = () => holder.replaceChildren(curve(index, runs, curves, own, members, choice.value));
    draw();
    return [h("h2", {}, "Over rounds"), h("p", {}, h("label", { for: "metric" }, "metric "), choice), holder,
      h("p", { class: "soft" }, `In grey: ${members.length - 1} other runs of the same number.`)];
  };

  const traffic = (runs, own) => {
    const phases = Object.entries(Explorer.at(runs.traffic, own));
    const names = [...new Set(phases.flatMap(([, counts]) => Object.keys(counts)))];
    const words = { up: "bytes to the server", down: "bytes to clients", paper: "by the paper's formula", messages: "messages", last_round: "bytes of the last round" };
    return Explorer.table({ caption: "Bytes sent, by phase", rows: phases, columns: [{ name: "phase", head: true, value: ([phase]) => phase },
      ...names.map((name) => ({ name: words[name] ?? Explorer.words(name), number: true, value: ([, counts]) => counts[name] ?? null }))] });
  };

  const operations = (runs, own) => {
    const [kept, dense, dead] = ["macs", "dense_macs", "dead_units"].map((name) => Explorer.at(runs[name], own));
    const rows = Object.keys(dense).map((layer) => ({ layer, kept: kept[layer], dense: dense[layer], dead: dead[layer] ?? null }));
    return Explorer.table({ caption: "Multiply-accumulate operations of one prediction", rows, columns: [{ name: "layer", head: true, value: (row) => row.layer },
      { name: "this run", number: true, value: (row) => row.kept }, { name: "dense model", number: true, value: (row) => row.dense }, { name: "dead units", number: true, value: (row) => row.dead }] });
  };

  const synthetic = (weights, truth) => {
    const real = new Set(truth);
    const chips = (list, kind) => h("ul", { class: "chips" }, list.map((weight) => h("li", { class: kind }, String(weight))));
    const hits = weights.filter((weight) => real.has(weight));
    const kept = new Set(weights);
    const wrong = weights.filter((weight) => !real.has(weight));
    const missed = truth.filter((feature) => !kept.has(feature));
    return [h("p", {}, `Of ${truth.length} true features ${hits.length} were found (true positives), ${missed.length} missed; false positives among the kept weights: ${wrong.length}.`),
      h("h3", {}, `Found (${hits.length})`), chips(hits, "true"), h("h3", {}, `False (${wrong.length})`), chips(wrong, "false"), h("h3", {}, `Missed (${missed.length})`), chips(missed)];
  };

  const genes = (weights, values, list) => {
    const rows = Object.values(Object.groupBy(weights.map((weight, at) => ({ gene: weight % list.count, side: [...(list.numeric ? [] : [`class ${Math.floor(weight / list.count)}`]), ...(values.length ? [Explorer.number(values[at])] : [])].join(": ") })), (each) => each.gene));
    return Explorer.table({ caption: `${rows.length} features, by ${weights.length} kept weights`, rows: rows.map((each) => ({ names: list.genes[each[0].gene], sides: each.map((one) => one.side) })), columns: [
      { name: "feature", head: true, value: (row) => row.names[0] }, { name: "symbol", value: (row) => row.names[1] }, { name: "name in the data", value: (row) => row.names[2], show: (row) => h("code", {}, row.names[2]) },
      { name: list.numeric ? "kept weight" : "kept weights, by class", value: (row) => row.sides.length, show: (row) => row.sides.join(", ") }] });
  };

  const support = (runs, supports, own) => {
    const weights = Explorer.unstep(supports.places[own]);
    const data = Explorer.at(runs.data, own);
    const head = h("h2", {}, `Kept weights: ${weights.length.toLocaleString("en")} of ${Explorer.at(runs.parameters, own).toLocaleString("en")}`);
    const linear = !Explorer.at(runs.job, own).model.includes(":");
    if (linear && supports.truth[data]) return [head, ...synthetic(weights, Explorer.unstep(supports.truth[data]))];
    if (linear && data in supports.named) return [head, genes(weights, supports.weights[own], supports.lists[supports.named[data]])];
    return [head, h("details", {}, h("summary", {}, "Indices"), h("p", {}, weights.join(" ")))];
  };

  // The record as it lies in the results folder, but for the digits of the curve and of weights.
  Explorer.record = (runs, curves, supports, place) => {
    const at = (name) => Explorer.at(runs[name], place);
    const pick = (part) => Object.fromEntries(runs.fields[part].map((name) => [name, at(name)]));
    const metrics = Object.fromEntries(Object.entries(runs.metrics).filter(([, values]) => values[place] !== null).map(([name, values]) => [name, values[place]]));
    return {
      schema_version: at("schema_version"), run: pick("run"), origin: pick("origin"),
      result: { ...pick("result"), metrics, curve: { ...Explorer.at(curves.where, place), metrics: curves.metrics[place] },
        support: Explorer.unstep(supports.places[place]), weights: supports.weights[place] },
      result_sha256: at("result_sha256"), circumstances: pick("circumstances"), record_sha256: at("record_sha256"),
    };
  };

  const record = (runs, curves, supports, own) => {
    const text = h("pre", { tabindex: "0" });
    const fill = () => { text.textContent ||= JSON.stringify(Explorer.record(runs, curves, supports, own), null, 1); };
    return [h("h2", {}, "Record"), h("details", { toggle: fill }, h("summary", {}, "As JSON"),
      h("p", { class: "soft" }, "Curves and weights have four digits here, and more than 200 weights are left out; the record in the results folder has everything."),
      h("button", { type: "button", click: (event) => { fill(); Explorer.copy(text.textContent); event.target.textContent = "copied"; } }, "copy"), text)];
  };

  Explorer.views.run = async (path, parameters) => {
    const [index, runs, curves, supports] = await Promise.all(["index", "runs", "curves", "supports"].map(Explorer.part));
    const own = runs.path.indexOf(`${path.replace(/\.json$/, "")}.json`);
    if (own < 0) return Explorer.lost(`There is no run ${path}.`);
    const of = parameters.of ? Explorer.membersOf(index, runs, parameters.of) : null;
    const members = of?.some((member) => member.place === own) ? of : alike(runs, own);
    const at = (name) => Explorer.at(runs[name], own);
    const final = Object.entries(runs.metrics).filter(([, values]) => values[own] !== null).map(([name, values]) => [Explorer.words(name), Explorer.number(values[own])]);
    return [
      Explorer.trail(...(of ? [["a number that uses this run", `#${parameters.of}`]] : []), [Explorer.runTitle(index, runs, own)]),
      h("h1", {}, Explorer.runTitle(index, runs, own)),
      h("p", {}, Explorer.badge(at("status")), at("diverged_round") === null ? "" : ` in round ${at("diverged_round")}`, ", ", h("span", { class: "soft" }, `experiment ${at("experiment")}`)),
      h("div", { class: "columns" }, h("div", {}, h("div", { class: "panel" }, Explorer.pairs(final)), ...(curveSection(index, runs, curves, own, members) ?? [])),
        h("div", {}, traffic(runs, own), operations(runs, own),
          h("div", { class: "panel" }, Explorer.pairs([["record", h("code", {}, `${Explorer.folder(index)}/runs/${runs.path[own]}`)], ["result sha256", h("code", {}, at("result_sha256"))], ["data", h("code", {}, `${at("data")} ${at("data_sha256")}`)],
            ["commit", h("code", {}, at("commit"))], ["CPU seconds", `${Explorer.number(at("cpu_seconds"))} for ${at("runs_in_batch")} runs side by side`], ["finished", at("finished_at")]])))),
      ...support(runs, supports, own),
      h("h2", {}, "Settings"), h("div", { class: "panel" }, Explorer.pairs(Object.entries(at("settings")).map(([name, value]) => [Explorer.words(name), Explorer.number(value)]), true)),
      ...record(runs, curves, supports, own)];
  };
})();
