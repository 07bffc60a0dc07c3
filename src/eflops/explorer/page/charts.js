"use strict";
// Charts, by Observable Plot. A point that stands for runs is a link, so keys and screen readers reach it too.
(() => {
  const { h } = Explorer;
  const NARROW = 560;
  // A chart that has the page for itself is as wide as the page.
  const wideWidth = () => Math.max(340, Math.min(1160, document.documentElement.clientWidth - 90));

  // Colours and markers of methods are those of the printed figures.
  const scales = (index, methods) => ({
    color: { domain: methods, range: methods.map((method) => Explorer.colour(index, method)) },
    symbol: { domain: methods, range: methods.map((method) => Explorer.symbol(index, method)) },
  });
  const base = (label, width) => ({ width: Math.min(width ?? NARROW, wideWidth()), ariaLabel: label, style: { fontSize: "12px", background: "none" }, marginLeft: 52, marginTop: 34, marginBottom: 52 });

  const framed = (plot, legend) => h("div", { class: "chart" }, legend, plot);

  // A click on one of very many points opens it; the table below holds their links.
  const opened = (plot, points) => plot.addEventListener("click", (event) => {
    const mark = event.target.__data__;
    if (typeof mark === "number" && points[mark]) location.hash = points[mark].href;
  });

  Explorer.legend = (index, methods, extra) =>
    h("ul", { class: "legend" }, methods.map((method) => {
      const sign = Plot.plot({ width: 12, height: 12, margin: 6, axis: null, x: { domain: [-1, 1] }, y: { domain: [-1, 1] },
        marks: [Plot.dot([0], { x: [0], y: [0], r: 4.5, fill: Explorer.colour(index, method), symbol: Explorer.symbol(index, method) })] });
      sign.setAttribute("aria-hidden", "true");
      return h("li", {}, sign, Explorer.label(index, method));
    }), (extra || []).map((text) => h("li", {}, text)));

  // The values of the runs behind a number, a row per method; the number itself and the paper's as lines.
  Explorer.distribution = (index, { points, value, paper, decides, label }) => {
    const methods = [...new Set(points.map((point) => point.method))];
    const most = Math.max(...methods.map((method) => points.filter((point) => point.method === method).length));
    // Of hundreds of runs each is a stroke: room for a point is not left, and a link for each takes the browser long.
    const many = most > 160 || points.length > 400;
    const rows = methods.length > 1;
    const place = { x: "value", fy: rows ? "label" : undefined, stroke: "method" };
    const links = { fill: "method", href: "href", title: "title", ariaLabel: "title" };
    const dots = many
      ? Plot.tickX(points, { ...place, strokeOpacity: 0.5 })
      : Plot.dot(points, Plot.dodgeY({ ...place, ...links, anchor: "middle", r: most > 60 ? 2.5 : 4.5, fillOpacity: 0.75, padding: 0.6 }));
    const marks = [
      decides ? Plot.rectX([decides], { x1: "low", x2: "high", fill: "currentColor", fillOpacity: 0.08 }) : null,
      paper ? Plot.ruleX([paper.value], { strokeDasharray: "5 3", strokeWidth: 1.5 }) : null,
      Number.isFinite(value) ? Plot.ruleX([value], { strokeWidth: 2, strokeOpacity: 0.55 }) : null,
      dots,
    ];
    const entries = [Number.isFinite(value) ? "│ this number" : null, paper ? `┆ the paper's ${Explorer.number(paper.value)}` : null, decides ? "shaded: the interval that decides the verdict" : null];
    const plot = Plot.plot({ ...base(`Values of ${points.length} runs: ${label}`, wideWidth()), ...scales(index, methods),
      height: rows ? 100 + methods.length * 64 : 200, marginLeft: rows ? 130 : 20, fy: { label: null, axis: rows ? "left" : null },
      x: { label, grid: true, nice: true, inset: 10 }, marks });
    if (many) opened(plot, points);
    return framed(plot, Explorer.legend(index, rows ? [] : methods, entries.filter(Boolean)));
  };

  // Our values with the intervals that decide a line's verdict, and the paper's number as a dashed line.
  Explorer.intervals = (line) => {
    const named = Explorer.namedValues(line).filter((each) => each.low !== null && each.low !== undefined);
    const colour = `var(--${{ agrees: "good", differs: "bad", "agrees at nearest settings": "near" }[line.verdict] ?? "half"})`;
    const zero = !line.paper && named.some((each) => each.low < 0) ? [0] : [];
    const unit = line.paper ? `for one more of the ${named[0].n} ${named[0].unit}` : `of the mean over ${named[0].n} ${named[0].unit}`;
    // On a phone the names leave room for the intervals.
    const [room, letters] = wideWidth() < 500 ? [125, 20] : [190, 30];
    const plot = Plot.plot({ ...base(`Intervals of ${line.id}`, wideWidth()), height: 70 + named.length * 26, marginLeft: room, x: { label: null, grid: true, nice: true, inset: 10 },
      y: { label: null, domain: named.map((each) => each.label), tickFormat: (text) => (text.length > letters ? text.slice(0, letters - 1) + "…" : text) }, marks: [
        Plot.ruleX(zero), line.paper ? Plot.ruleX([line.paper.value], { strokeDasharray: "5 3", strokeWidth: 1.5 }) : null,
        Plot.link(named, { x1: "low", x2: "high", y1: "label", y2: "label", stroke: colour, strokeWidth: 5, strokeOpacity: 0.55, strokeLinecap: "butt" }),
        Plot.dot(named, { x: "mean", y: "label", fill: colour, r: 4.5, title: (each) => `${each.name}: ${Explorer.number(each.mean)} (${Explorer.number(each.low)} to ${Explorer.number(each.high)})` })] });
    return framed(plot, h("ul", { class: "legend" }, h("li", {}, `● ours, with the 95 % interval ${unit}`), line.paper ? h("li", {}, `┆ the paper's ${Explorer.number(line.paper.value)}`) : null));
  };

  // A run's curve over the others of its number.
  Explorer.curves = (index, { lines, metric, label }) => {
    const points = lines.flatMap((line) => line.round.map((round, place) => ({ round, value: line.values[place], run: line.run, own: line.own, phase: line.phase[place] })))
      .filter((point) => point.value !== null && point.value !== undefined);
    const own = points.filter((point) => point.own);
    const turn = own.find((point, place) => place && own[place - 1].phase !== point.phase);
    const colour = Explorer.colour(index, lines.find((line) => line.own).method);
    const plot = Plot.plot({ ...base(label), height: 300, x: { label: "round", nice: true }, y: { label: Explorer.words(metric), grid: true, nice: true }, marks: [
      Plot.line(points.filter((point) => !point.own), { x: "round", y: "value", z: "run", stroke: "var(--others)", strokeOpacity: 0.45, strokeWidth: 1 }),
      turn ? Plot.ruleX([turn.round], { strokeDasharray: "2 4" }) : null,
      turn ? Plot.text([turn], { x: "round", text: "phase", frameAnchor: "top", dy: -10 }) : null,
      Plot.line(own, { x: "round", y: "value", stroke: colour, strokeWidth: 2.5 }),
      Plot.dot(own, { x: "round", y: "value", fill: colour, r: own.length > 80 ? 0 : 2.5, title: (point) => `round ${point.round}: ${Explorer.number(point.value)}` }),
    ] });
    return framed(plot);
  };

  const numeric = (values) => values.every((value) => typeof value === "number");
  // Rates and the like differ by factors: on a logarithmic axis, or where 0 is among a few values, side by side.
  const spacing = (values, name) => {
    const sizes = values.filter((value) => value > 0);
    if (["round", "seed", "draw"].includes(name) || Math.max(...sizes) / Math.min(...sizes) <= 30) return undefined;
    if (sizes.length === values.length) return "log";
    return new Set(values).size <= 12 && Math.min(...values) >= 0 ? "point" : undefined;
  };

  // Points over a setting, method by colour and marker; `means` are drawn as a line where x is a number.
  Explorer.scatter = (index, { points, x, y, means, zero, connect, label, height, wide }) => {
    const methods = Object.keys(index.methods).filter((method) => points.some((point) => point.method === method));
    const xs = points.map((point) => point.x);
    const number = numeric(xs);
    const type = number ? spacing(xs, x) : undefined;
    const facets = { fx: points.some((point) => point.fx !== undefined) ? "fx" : undefined, fy: points.some((point) => point.fy !== undefined) ? "fy" : undefined };
    const order = number ? undefined : [...new Set(xs)];
    const place = number ? { x: "x", y: "y" } : { x: "y", y: "x" };
    // Links and titles of thousands of points take the browser long; a click opens those points.
    const links = points.length <= 1200 ? { href: "href", ariaLabel: "title", title: "title" } : {};
    const below = { labelAnchor: "center", labelArrow: "none", labelOffset: 42 };
    const value = { label: y, grid: true, nice: true };
    const rest = number
      ? { x: { label: x, ...below, type, ...(type === "point" ? { domain: [...new Set(xs)].sort((one, other) => one - other) } : { nice: true, inset: 8 }), tickFormat: type ? "~g" : undefined }, y: value }
      : { x: { ...value, ...below }, y: { label: null, type: "band", domain: order, padding: 0.2, tickFormat: (text) => (String(text).length > 30 ? String(text).slice(0, 29) + "…" : String(text)) } };
    // Few whole numbers, such as seeds, are the ticks themselves.
    const values = [...new Set(xs)];
    if (number && !type && values.length <= 12 && values.every(Number.isInteger)) Object.assign(rest.x, { ticks: values, tickFormat: "d" });
    // Methods at one value stand side by side.
    const room = wideWidth() / new Set(points.map((point) => point.fx)).size / values.length;
    const apart = methods.length > 1 && values.length <= 12 ? Math.min(7, (number ? 0.5 * room : 20) / methods.length) : 0;
    if (apart && number) rest.x.inset = 8 + apart * methods.length / 2;
    const beside = (mark) => (apart ? methods : [null]).map((method, at) => mark({ ...facets,
      ...(apart ? { filter: (each) => each.method === method, [number ? "dx" : "dy"]: (at - (methods.length - 1) / 2) * apart } : {}) }));
    const range = (data, { x, y, ...look }) => (number ? Plot.ruleX(data, { ...look, x, y1: "low", y2: "high" }) : Plot.ruleY(data, { ...look, y, x1: "low", x2: "high" }));
    const joined = means && number && means.some((mean) => means.some((other) => other.method === mean.method && other.x !== mean.x));
    // The names of rows of panels stand to the right of them.
    const rows = facets.fy ? 24 + 7 * Math.max(...points.map((point) => String(point.fy).length)) : undefined;
    const tall = height || (number ? 340 : Math.max(160, 60 + order.length * 30));
    const plot = Plot.plot({ ...base(label, wide ? wideWidth() : undefined), ...scales(index, methods), ...rest, height: tall, marginLeft: number ? 60 : 190, marginRight: rows,
      fx: { label: facets.fx ? points[0].fxName : null, padding: 0.12 }, fy: { label: facets.fy ? points[0].fyName : null, padding: 0.12 }, marks: [
        zero ? (number ? Plot.ruleY([0]) : Plot.ruleX([0])) : null,
        beside((look) => range(points.filter((point) => point.low !== undefined), { ...look, ...place, stroke: "method", strokeOpacity: 0.4 })),
        connect && number ? beside((look) => Plot.line(points, { ...look, x: "x", y: "y", z: (point) => `${point.method} ${point.series ?? ""}`, stroke: "method", strokeWidth: 1.3, sort: "x" })) : null,
        beside((look) => Plot.dot(points, { ...look, ...place, ...links, fill: "method", symbol: "method", r: points.length > 400 ? 2.5 : 4, fillOpacity: !means ? 0.9 : points.length > 1200 ? 0.25 : 0.55 })),
        means ? beside((look) => range(means.filter((mean) => mean.low !== null), { ...look, ...place, stroke: "method", strokeWidth: 2.5 })) : null,
        joined ? beside((look) => Plot.line(means, { ...look, x: "x", y: "y", stroke: "method", strokeWidth: 2, sort: "x" })) : null,
        means && !number ? beside((look) => Plot.tickX(means, { ...look, x: "y", y: "x", stroke: "method", strokeWidth: 3 })) : null,
      ] });
    if (!links.href) opened(plot, points);
    return framed(plot, Explorer.legend(index, methods));
  };

  // A chart as a file of its own: with its namespace, a white ground and the page's ink.
  Explorer.svg = (chart) => {
    const copy = [...chart.querySelectorAll("svg")].at(-1).cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("style", "background: white; color: #1b1f24; font: 12px sans-serif");
    return `<?xml version="1.0" encoding="utf-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
  };

  // Moves in units of their spread, a row per file.
  Explorer.spreads = (points) => {
    const places = [...new Set(points.map((point) => point.x))];
    return framed(Plot.plot({ ...base("Moves in units of the cell's spread", wideWidth()), height: 70 + places.length * 22, marginLeft: 220, x: { label: "change in units of the cell's spread (grey: within one)", grid: true },
      y: { label: null, domain: places }, marks: [Plot.rectX([0], { x1: -1, x2: 1, fill: "currentColor", fillOpacity: 0.08 }), Plot.ruleX([0]),
        Plot.tickX(points, { x: "y", y: "x", href: "href", title: "title", ariaLabel: "title", stroke: "var(--link)", strokeWidth: 2 })] }));
  };
})();
