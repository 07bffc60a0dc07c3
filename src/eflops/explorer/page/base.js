"use strict";
// What all views use: elements, addresses, numbers in words. Text from data becomes text nodes, never markup.
const Explorer = { views: {} };

Explorer.h = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

// An address is a path and parameters in the fragment: #tables/support_recovery?ratio=0.64&method=eflops&cell=mean
Explorer.address = (path, parameters) => {
  const given = Object.entries(parameters || {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return "#" + encodeURI(path) + (given.length ? "?" + new URLSearchParams(given) : "");
};

Explorer.parse = (fragment) => {
  const text = fragment.replace(/^#/, "");
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  let decoded = path;
  try { decoded = decodeURI(path); } catch { /* a path that is not well formed is shown as it stands */ }
  return { path: decoded, parameters: Object.fromEntries(new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1))) };
};

Explorer.same = (one, other) => {
  if (one === null || other === null || one === "" || other === "") return one === other;
  const numbers = [Number(one), Number(other)];
  return numbers.every(Number.isFinite) ? Math.abs(numbers[0] - numbers[1]) < 1e-9 : String(one) === String(other);
};

// Made once: a format for every number of a view would take longer than the view.
const WHOLE = new Intl.NumberFormat("en");

Explorer.number = (value) => {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return typeof value === "object" ? JSON.stringify(value) : String(value);
  if (Math.abs(value) < 1e-12) return "0";  // what rounding leaves of a difference of equals
  if (Number.isInteger(value)) return WHOLE.format(value).replace("-", "−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
};

Explorer.words = (name) => name.replace(/^set_/, "").replaceAll("_", " ").replace(/\br2\b/, "R²").replace(/^ratio$/, "N/d");

// Our values of a line with a label each; a claim about a baseline of two meanings has each comparison twice.
Explorer.namedValues = (line) => {
  const twice = line.grounds?.length === 2 && new Set(line.ours.map((each) => each.name)).size < line.ours.length;
  const against = (place) => (twice ? `, ${line.grounds[place < line.ours.length / 2 ? 0 : 1].against}` : "");
  return line.ours.map((each, place) => ({ ...each, label: line.paper ? (place ? "at nearest settings" : "at searched settings") : each.name + against(place) }));
};

// Where a line stands in its table.
Explorer.rowName = (line) => (line.section.startsWith("Table 1") && Number(line.row) ? `N/d ${line.row}` : line.row);

Explorer.mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
Explorer.sd = (values) => {
  if (values.length < 2) return null;
  const mean = Explorer.mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
};

// Quantiles of Student's t for a 95 % interval, by degrees of freedom; between them the next smaller is the safe choice.
const T = [[1, 12.706], [2, 4.303], [3, 3.182], [4, 2.776], [5, 2.571], [6, 2.447], [7, 2.365], [8, 2.306], [9, 2.262], [10, 2.228], [11, 2.201], [12, 2.179],
  [13, 2.160], [14, 2.145], [15, 2.131], [16, 2.120], [17, 2.110], [18, 2.101], [19, 2.093], [20, 2.086], [24, 2.064], [29, 2.045], [39, 2.023], [59, 2.001], [99, 1.984], [199, 1.972]];
// The 95 % interval of the mean of values; none below three, as in the tables.
Explorer.interval = (values) => {
  if (values.length < 3) return null;
  const quantile = T.findLast(([df]) => df <= values.length - 1)[1];
  const half = quantile * Explorer.sd(values) / Math.sqrt(values.length);
  const mean = Explorer.mean(values);
  return { low: mean - half, high: mean + half };
};

Explorer.quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", `'"'"'`) + "'");

Explorer.trail = (...steps) =>
  Explorer.h("nav", { class: "trail", "aria-label": "Where this is" },
    [["Home", "#"], ...steps].flatMap(([name, address], place) => [
      place ? " › " : "", address ? Explorer.h("a", { href: address }, name) : Explorer.h("span", { "aria-current": "page" }, name)]));

// The results folder as a command names it: where this page lies, if it lies in its results folder.
Explorer.folder = (index) => {
  if (!index.inside || location.protocol !== "file:") return index.results;
  return decodeURIComponent(location.pathname).replace(/\/[^/]*$/, "");
};

Explorer.download = (name, type, text) => {
  const link = Explorer.h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
};

// Rows of values as CSV; a cell with a comma, a quote or a line's end stands in quotes.
Explorer.csv = (columns, rows) => [columns, ...rows].map((row) => row.map((value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}).join(",")).join("\n") + "\n";

Explorer.copy = async (text) => {
  // A page from disk has no clipboard of its own in every browser; the old way works in all.
  try { await navigator.clipboard.writeText(text); } catch {
    const area = Explorer.h("textarea", { class: "quiet" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};

Explorer.command = (text) => {
  const status = Explorer.h("span", { class: "quiet", role: "status" });
  const button = Explorer.h("button", { type: "button", "aria-label": `Copy: ${text}`, click: async () => {
    await Explorer.copy(text);
    button.firstChild.textContent = "copied";
    status.textContent = "copied";
    setTimeout(() => { button.firstChild.textContent = "copy"; }, 1500);
  } }, "copy");
  return Explorer.h("div", { class: "command" }, Explorer.h("code", {}, text), button, status);
};

Explorer.pairs = (entries, many) =>
  Explorer.h("dl", { class: many ? "many" : null }, entries.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => Explorer.h("div", {}, Explorer.h("dt", {}, name), Explorer.h("dd", {}, value))));

Explorer.badge = (verdict) =>
  Explorer.h("span", { class: "badge " + verdict.toLowerCase().replace(/[^a-z]+/g, "-") }, verdict);
