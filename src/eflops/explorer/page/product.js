"use strict";
// A table or a figure: as it is printed, and all its plain numbers, each a link to its runs.
(() => {
  const { h } = Explorer;
  const FAVOURED = ["mean", "frequency", "difference", "median"];

  Explorer.cellAddress = (product, row, column) => {
    const keys = Object.fromEntries(product.keys.map((key, place) => [key, product.rows[row][place]]));
    return Explorer.address(`${product.kind}s/${product.name}`, { ...keys, cell: product.columns[column] });
  };

  // Where a number leads: to its runs, or to the line of the scorecard that it shows.
  const link = (product, row, column) => {
    if (product.behind[row][column] !== null) return Explorer.cellAddress(product, row, column);
    if (product.keys[0] === "id" && product.columns.includes("verdict")) return Explorer.address("scorecard", { line: product.rows[row][0] });
    return null;
  };

  const linked = (product, row, column, text) => {
    const address = link(product, row, column);
    return address ? h("a", { href: address }, text) : text;
  };

  const shown = (product) => {
    const { columns, rows, bold, note, title } = product.shown;
    const cell = (pieces, row, place) =>
      h(place ? "td" : "th", { class: place ? "words" + (bold[row].includes(place) ? " bold" : "") : null, scope: place ? null : "row" },
        pieces.map((piece) => (typeof piece === "string" ? piece : linked(product, piece[1], piece[2], piece[0]))));
    return [
      h("div", { class: "grid", tabindex: "0", role: "region", "aria-label": title }, h("table", { class: "dense" }, h("caption", {}, title),
        h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, rows.map((row, at) => h("tr", {}, row.map((pieces, place) => cell(pieces, at, place))))))),
      note ? h("p", { class: "soft" }, note) : null];
  };

  Explorer.plainTable = (index, product) => {
    const columns = [
      ...product.keys.map((key, place) => ({ name: Explorer.words(key), head: place === 0, value: (row) => product.rows[row][place],
        show: (row) => (["method", "reference", "other"].includes(key) ? Explorer.label(index, product.rows[row][place]) : Explorer.number(product.rows[row][place])) })),
      ...product.columns.map((name, place) => ({ name: Explorer.words(name), number: true, value: (row) => product.rows[row][product.keys.length + place],
        show: (row) => { const value = product.rows[row][product.keys.length + place]; return value === null ? "" : typeof value === "string" && product.behind[row][place] !== null ? value : linked(product, row, place, Explorer.number(value)); } })),
    ];
    return Explorer.table({ caption: `${product.file}: ${product.rows.length} rows; every number links to its runs`, columns, rows: product.rows.map((_, row) => row), most: 100 });
  };

  // How a figure's numbers are drawn: a chart per panel and metric, over the key that has the most numbers.
  const charts = (index, product) => {
    const value = (row, name) => product.rows[row][[...product.keys, ...product.columns].indexOf(name)];
    const groups = new Map();
    product.rows.forEach((_, row) => {
      const keys = product.keys.filter((key) => value(row, key) !== null);
      const numbers = product.columns.filter((name) => typeof value(row, name) === "number");
      const y = FAVOURED.find((name) => numbers.includes(name)) ?? numbers[0];
      if (y === undefined) return;
      const apart = ["panel", "metric", "setting"].filter((key) => keys.includes(key));
      const name = JSON.stringify([apart.map((key) => value(row, key)), keys, y]);
      if (!groups.has(name)) groups.set(name, { apart, keys, y, rows: [] });
      groups.get(name).rows.push(row);
    });
    return [...groups.values()].map(({ apart, keys, y, rows }) => {
      const distinct = (key) => new Set(rows.map((row) => value(row, key))).size;
      const varying = keys.filter((key) => !apart.includes(key) && !["method", "phase"].includes(key) && distinct(key) > 1);
      const [x, fx, fy] = varying.toSorted((one, other) => {
        const kinds = [one, other].map((key) => typeof value(rows[0], key) === "number");
        return kinds[0] !== kinds[1] ? kinds[1] - kinds[0] : distinct(other) - distinct(one);
      });
      const spread = product.columns.includes("sd") && y === "mean";
      const points = rows.map((row) => {
        const [mean, sd] = [value(row, y), spread ? value(row, "sd") : null];
        const method = value(row, "method") ?? Object.keys(index.methods)[0];
        const about = keys.map((key) => (key === "method" ? Explorer.label(index, method) : `${Explorer.words(key)} ${value(row, key)}`)).join(", ");
        return { x: x ? value(row, x) : Explorer.label(index, method), y: mean, method, series: value(row, "phase"), title: `${about}: ${Explorer.number(mean)}`,
          href: link(product, row, product.columns.indexOf(y)) ?? undefined,
          ...(fx ? { fx: value(row, fx), fxName: Explorer.words(fx) } : {}), ...(fy ? { fy: value(row, fy), fyName: Explorer.words(fy) } : {}),
          ...(sd !== null ? { low: mean - sd, high: mean + sd } : {}) };
      });
      const name = apart.map((key) => `${key} ${Explorer.words(String(value(rows[0], key)))}`).join(", ");
      const reference = product.behind[rows[0]][product.columns.indexOf(y)];
      const about = reference === null ? "" : index.references.entries[reference][1];
      const metric = ["mean", "median", "difference"].includes(y) && about ? `${Explorer.words(y)} of ${Explorer.words(about)}` : Explorer.words(y);
      return h("div", { "data-wide": fx ? "yes" : null }, name ? h("h3", {}, name) : null, Explorer.scatter(index, { points, x: x ? Explorer.words(x) : "", y: metric, connect: true, wide: groups.size === 1 || Boolean(fx), label: `${product.title} ${name}` }));
    });
  };

  Explorer.views.product = async (product) => {
    const index = await Explorer.part("index");
    const figure = product.kind === "figure";
    const parts = [Explorer.trail([product.category, "#products"], [product.title]), h("h1", {}, product.title)];
    if (figure) {
      const picture = h("img", { alt: `${product.title}, as printed`, "data-picture": product.name });
      const drawn = charts(index, product);
      parts.push(h("div", { class: "picture" }, picture), product.note ? h("p", { class: "soft" }, product.note) : null,
        drawn.length ? h("h2", {}, "Points") : null, h("div", { class: drawn.length > 1 && !drawn.some((each) => each.dataset.wide) ? "columns" : null }, drawn), h("h2", {}, "Numbers"), Explorer.plainTable(index, product));
    } else {
      parts.push(...(product.shown ? shown(product) : []), h("details", { open: !product.shown }, h("summary", {}, "All numbers of this table"), Explorer.plainTable(index, product)));
    }
    parts.push(h("p", { class: "soft" }, "File: ", h("code", {}, `${Explorer.folder(index)}/${product.file}`)));
    return parts;
  };
})();
