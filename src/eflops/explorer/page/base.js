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
  if (Number.isInteger(value)) return WHOLE.format(value).replace("-", "−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
};

Explorer.words = (name) => name.replace(/^set_/, "").replaceAll("_", " ").replace(/\br2\b/, "R²").replace(/^ratio$/, "N/d");

Explorer.mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
Explorer.sd = (values) => {
  if (values.length < 2) return null;
  const mean = Explorer.mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
};

Explorer.quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", `'"'"'`) + "'");

Explorer.trail = (...steps) =>
  Explorer.h("nav", { class: "trail", "aria-label": "Where this is" },
    [["First sight", "#"], ...steps].flatMap(([name, address], place) => [
      place ? " › " : "", address ? Explorer.h("a", { href: address }, name) : Explorer.h("span", { "aria-current": "page" }, name)]));

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
  const told = Explorer.h("span", { class: "quiet", role: "status" });
  const button = Explorer.h("button", { type: "button", "aria-label": `Copy: ${text}`, click: async () => {
    await Explorer.copy(text);
    button.firstChild.textContent = "copied";
    told.textContent = "copied";
    setTimeout(() => { button.firstChild.textContent = "copy"; }, 1500);
  } }, "copy");
  return Explorer.h("div", { class: "command" }, Explorer.h("code", {}, text), button, told);
};

Explorer.pairs = (entries, many) =>
  Explorer.h("dl", { class: many ? "many" : null }, entries.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => Explorer.h("div", {}, Explorer.h("dt", {}, name), Explorer.h("dd", {}, value))));

Explorer.badge = (verdict) =>
  Explorer.h("span", { class: "badge " + verdict.toLowerCase().replace(/[^a-z]+/g, "-") }, verdict);
