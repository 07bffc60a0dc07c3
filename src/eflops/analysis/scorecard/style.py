"""The look of scorecard.html. Paul Tol's high-contrast colours, which differ in lightness as well as in hue."""

STYLE = """
:root { --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --paper: #ffffff; --ground: #f6f7f9;
  --reproduced: #004488; --direction-only: #ddaa33; --not-reproduced: #bb5566; --not-judged: #9aa1a9; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .3rem; }
p { margin: .3rem 0; max-width: 62rem; }
.soft, small { color: var(--soft); }
.summary { font-size: 1.1rem; font-weight: 600; }
.bar { display: flex; height: 1.1rem; border-radius: .3rem; overflow: hidden; margin: .8rem 0; gap: 2px; }
.bar span { display: block; min-width: 3px; }
.panel, .grid { background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
.panel { padding: .8rem 1.1rem; margin: .8rem 0; }
.grid { overflow-x: auto; margin-top: .6rem; }
dl { display: grid; grid-template-columns: 9.5rem 1fr; gap: .5rem .8rem; margin: .4rem 0; }
dd { margin: 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: .6rem .8rem .4rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .8rem; border-top: 1px solid var(--line); }
thead th { border-bottom: 1px solid var(--line); white-space: nowrap; }
tbody th { font-weight: 600; white-space: nowrap; width: 1%; }
td.count { text-align: right; } th.count { text-align: right; }
td.cell { border-left: .3rem solid var(--colour); width: 25%; min-width: 14.5rem; }
td.claim { width: 12rem; min-width: 11rem; }
.pair { padding-left: 3.8rem; text-indent: -3.8rem; }
.gene { font-weight: 600; }
.why { font-size: .8rem; line-height: 1.35; color: var(--soft); margin-top: .15rem; }
.ours { font-weight: 600; }
.key { display: inline-block; width: 3.8rem; text-indent: 0; color: var(--soft); font-weight: 400; font-size: .85rem; }
.badge { display: inline-block; border-radius: .25rem; padding: 0 .45rem; font-size: .8rem; font-weight: 600;
  line-height: 1.5; white-space: nowrap; background: var(--colour); color: var(--on); }
.reproduced { --colour: var(--reproduced); --on: #ffffff; }
.direction-only { --colour: var(--direction-only); --on: #1b1f24; }
.not-reproduced { --colour: var(--not-reproduced); --on: #ffffff; }
.not-judged { --colour: var(--not-judged); --on: #1b1f24; }
.bar span { background: var(--colour); }
details { margin-top: .3rem; } summary { cursor: pointer; color: var(--soft); font-size: .85rem; }
details ul { margin: .3rem 0; padding-left: 1.1rem; font-size: .85rem; columns: 20rem; }
code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@media print { body { background: #fff; font-size: 11px; } main { padding: 0; max-width: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
