"use strict";
// Lines of the scorecard by verdict and part, and the config that the results were made with.
(() => {
  const { h } = Explorer;

  Explorer.views.lines = async (parameters) => {
    const index = await Explorer.part("index");
    const wanted = (line) => ["verdict", "section"].every((name) => !parameters[name] || line[name] === parameters[name]);
    const lines = (index.card?.lines ?? []).filter(wanted);
    const title = [parameters.section ?? "All sections", parameters.verdict].filter(Boolean).join(": ");
    const what = (line) => line.short || [index.card.labels[line.column] ?? line.column, line.text || Explorer.rowName(line)].filter(Boolean).join(", ");
    const interval = (value) => (value.low === null ? "" : ` (${Explorer.number(value.low)} to ${Explorer.number(value.high)})`);
    const ours = (line) => (line.paper && line.ours.length ? Explorer.number(line.ours[0].mean) + interval(line.ours[0]) : line.grounds?.[0]?.effect ?? "–");
    return [Explorer.trail(["Scorecard", "#scorecard"], [title]), h("h1", {}, `${title} (${lines.length})`),
      parameters.verdict ? h("p", { class: "soft" }, index.card.rule[parameters.verdict]) : null,
      Explorer.table({ caption: `${lines.length} lines; click a line to see its runs`, rows: lines, dense: true, most: 400, columns: [
        { name: "line", head: true, value: what, show: (line) => h("a", { class: "wraps", href: Explorer.address("scorecard", { line: line.id }) }, what(line)) },
        { name: "verdict", value: (line) => line.verdict, show: (line) => Explorer.badge(line.verdict) },
        { name: "paper", number: true, value: (line) => line.paper?.value ?? null }, { name: "ours (95 % interval)", value: ours },
        { name: "part", value: (line) => line.section }] })];
  };

  Explorer.views.config = async () => {
    const { text, folder } = { ...(await Explorer.part("config")), folder: Explorer.folder(await Explorer.part("index")) };
    return [Explorer.trail(["Config"]), h("h1", {}, "The whole config of these results"),
      h("p", { class: "soft" }, "As ", h("code", {}, `${folder}/study.json`), " has it, after all files were merged and checked."),
      ...Object.entries(text).map(([name, section]) => h("details", { class: "panel", open: section.length < 3000 }, h("summary", {}, name), h("pre", { tabindex: "0" }, section)))];
  };
})();
