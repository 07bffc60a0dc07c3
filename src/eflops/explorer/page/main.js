"use strict";
// The view is in the fragment: every address shows the same thing wherever it is opened.
(() => {
  const { h } = Explorer;
  const home = document.getElementById("home");
  const view = document.getElementById("view");
  const PLACES = ["", "scorecard", "products", "summary", "found", "claims", "lines", "rule", "home"];

  Explorer.lost = (text) => [Explorer.trail(["Not found"]), h("h1", {}, "Not found"), h("p", {}, text, " It may have been made from other results.")];

  const pictures = async (root) => {
    const wanted = [...root.querySelectorAll("img[data-picture]:not([src])")];
    if (!wanted.length) return;
    const drawn = await Explorer.part("pictures");
    for (const image of wanted) {
      const text = drawn[image.dataset.picture];
      if (text) image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      else image.remove();
    }
  };

  const chosen = async ({ path, parameters }) => {
    if (path === "compare") return Explorer.views.compare(parameters);
    if (path === "moved" && Explorer.has("moved")) return Explorer.views.moved();
    if (path === "lines") return Explorer.views.lines(parameters);
    if (path === "config") return Explorer.views.config();
    if (path === "scorecard") return Explorer.views.line(parameters.line);
    if (path.startsWith("run/")) return Explorer.views.run(path.slice(4), parameters);
    const index = await Explorer.part("index");
    const product = index.products.find((each) => `${each.kind}s/${each.name}` === path);
    if (!product) return Explorer.lost(`There is no page ${path}.`);
    return "cell" in parameters ? Explorer.views.cell(product, parameters) : Explorer.views.product(product);
  };

  // A table that is wider than its frame says that it scrolls.
  const mark = (root) => {
    const wide = [...root.querySelectorAll(".grid")].map((grid) => [grid, grid.scrollWidth > grid.clientWidth + 2]);
    for (const [grid, scrolls] of wide) grid.classList.toggle("scrolls", scrolls);
  };
  addEventListener("resize", () => mark(home.hidden ? view : home));

  let asked = 0;
  const show = async (focus) => {
    const started = performance.now();
    const mine = ++asked;
    const address = Explorer.parse(location.hash);
    const first = PLACES.includes(address.path) && !Object.keys(address.parameters).length;
    if (location.hash === "#view") return;
    const parts = first ? [] : await chosen(address);
    if (mine !== asked) return;
    view.replaceChildren(...parts.flat(Infinity).filter(Boolean));
    view.hidden = first;
    home.hidden = !first;
    document.title = first ? "E-FLoPS: every number and its runs" : `${view.querySelector("h1").textContent} · E-FLoPS explorer`;
    mark(first ? home : view);
    const target = first ? document.getElementById(address.path) : null;
    if (target?.tagName === "DETAILS") target.open = true;
    if (first) target?.scrollIntoView();
    else { window.scrollTo(0, 0); if (focus) view.focus({ preventScroll: true }); }
    document.documentElement.dataset.shown = location.hash || "#";
    Explorer.took = performance.now() - started;
    pictures(first ? home : view);
  };

  const remembered = () => { try { return localStorage.getItem("eflops-theme"); } catch { return null; } };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => { document.documentElement.dataset.theme = remembered() ?? (dark.matches ? "dark" : "light"); };
  theme();
  dark.addEventListener("change", () => { theme(); show(false); });
  document.getElementById("theme").addEventListener("click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("eflops-theme", next); } catch { /* a page from disk may have no memory */ }
    show(false);
  });
  addEventListener("hashchange", () => show(true));
  show(false).then(async () => {
    // What a click will need is made ready once the home page stands.
    for (const name of ["index", "runs", "curves", "supports", "trials"]) await Explorer.part(name);
    document.documentElement.dataset.ready = "yes";
  });
})();
