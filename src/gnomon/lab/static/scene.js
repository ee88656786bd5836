// One model on the stage: its frames, its panels, its trace.

import uPlot from "./uplot.js";
import { draw, find, height, short, COLORS } from "./draw.js";
import { run } from "./talk.js";

const make = (name, attributes = {}, ...inside) => { const e = Object.assign(document.createElement(name), attributes); e.append(...inside); return e; };

const WHOLE = [1, 2, 5].flatMap(k => [0, 1, 2, 3, 4, 5, 6].map(p => k * 10 ** p)).sort((a, b) => a - b);

export class Scene {
  constructor(place, hooks) {
    this.hooks = hooks; this.frames = []; this.head = null; this.shown = -1; this.over = false; this.cards = [];
    this.title = make("h2"); this.formula = make("div", { className: "formula" }); this.said = make("p", { className: "said" });
    this.said.setAttribute("aria-live", "polite");
    this.panels = make("div", { className: "panels" }); this.trace = make("div", { className: "trace" });
    this.root = make("article", { className: "scene" }, this.title, this.formula, this.said, this.panels, this.trace);
    place.append(this.root);
  }

  remove() { this.stop(); clearTimeout(this.walking); this.chart?.destroy(); this.root.remove(); }
  stop() { this.control?.abort(); this.control = null; }

  async start(asked) {
    this.stop();
    const control = this.control = new AbortController();
    this.asked = asked; this.frames = []; this.over = false; this.lost = false; this.shown = -1; this.fresh = true;
    this.title.textContent = asked.model;
    try {
      await run(asked, line => { if (control === this.control) this.hear(line); }, control.signal);
      if (control === this.control && !this.over) throw new TypeError("the stream ended early");
    } catch (error) {
      if (control !== this.control || error.name === "AbortError") return;
      this.over = true;
      this.lost = error instanceof TypeError; // the server is gone, not the fit
      this.fail(this.lost ? "The server went away in the middle of the run." : error.message);
    } finally { if (control === this.control) this.hooks.arrived(this); }
  }

  hear(line) {
    if (line.type === "head") {
      this.head = line; this.formula.innerHTML = line.formula; // made by the server from the docstring
      this.hooks.head(this);
    } else if (line.type === "step") { this.frames.push(line); this.hooks.arrived(this); }
    else if (line.type === "failed") { this.over = true; this.fail(line.said); }
    else if (line.type === "end") { this.over = true; this.hooks.arrived(this); }
  }

  fail(said) { this.said.textContent = said; this.said.classList.add("failed"); this.failed = said; this.hooks.arrived(this); }

  show(at) {
    const frame = this.frames[Math.min(at, this.frames.length - 1)];
    if (!frame || !this.head) return;
    if (!this.failed || this.frames.length > at + 1) { this.said.textContent = this.words(at); this.said.classList.remove("failed"); }
    if (this.fresh) { this.failed = null; this.fresh = false; this.said.classList.remove("failed"); }
    this.shown = Math.min(at, this.frames.length - 1);
    this.layout(frame.panels);
    const begun = performance.now();
    frame.panels.forEach((panel, k) => this.paint(this.cards[k], panel));
    this.drawn = performance.now() - begun;
    this.draw_trace();
    this.replay();
  }

  replay() { // the walker goes along its episode, once, while the reader stays at this step
    clearTimeout(this.walking); this.walk = undefined;
    const card = this.cards.find(c => c.panel?.kind === "matrix" && c.panel.path?.length > 1);
    if (!card || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    let place = 0;
    const step = () => {
      if (!card.root.isConnected) return;
      this.walk = place; this.paint(card, card.panel);
      if (place++ < card.panel.path.length - 1) this.walking = setTimeout(step, 180); else this.walk = undefined;
    };
    this.walking = setTimeout(step, 500);
  }

  words(at) { // what a step did; whether it has converged is said of the last one alone
    const frame = this.frames[Math.min(at, this.frames.length - 1)], last = this.over && frame === this.frames.at(-1);
    return [frame.said, this.moved(at), last && frame.done ? "It has converged." : ""].filter(Boolean).join(" ");
  }

  moved(at) { // what changed in the picture since the step before, in a sentence
    const now = this.frames[at], before = this.frames[at - 1];
    if (!now || !before || !now.panels.length || !before.panels.length) return "";
    const layer = (frame, type) => frame.panels[0].layers?.find(l => l.type === type && (type === "data" ? l.codes : l.mark === "cross"));
    const a = layer(before, "data"), b = layer(now, "data"), said = [];
    if (a && b && a.codes.length === b.codes.length && a.codes !== b.codes) { let n = 0; for (let i = 0; i < a.codes.length; i++) n += a.codes[i] !== b.codes[i]; said.push(`${n} point${n === 1 ? "" : "s"} changed group`); }
    const p = layer(before, "points"), q = layer(now, "points");
    if (p && q && p.xy.length === q.xy.length && now.panels[0].kind === "plane") { const far = Math.max(...p.xy.map((v, i) => Math.hypot(v[0] - q.xy[i][0], v[1] - q.xy[i][1]))); if (far > 0) said.push(`the farthest center moved ${short(far)}`); }
    return said.length ? `${said.join("; ").replace(/^./, c => c.toUpperCase())}.` : "";
  }

  layout(panels) { // the same cards from step to step
    const kinds = panels.map(p => p.kind).join();
    if (kinds !== this.kinds) {
      this.kinds = kinds; this.panels.replaceChildren();
      this.cards = panels.map(panel => {
        const caption = make("figcaption"), canvas = ["plane", "matrix", "bars", "graph", "images"].includes(panel.kind) ? make("canvas") : make("div");
        const card = { caption, canvas, root: make("figure", { className: panel.tree ? "wide" : "" }, caption, canvas) };
        if (canvas instanceof HTMLCanvasElement) { canvas.setAttribute("role", "img"); canvas.tabIndex = 0; this.hooks.canvas(this, card); }
        this.panels.append(card.root);
        return card;
      });
    }
    panels.forEach((panel, k) => { this.cards[k].caption.textContent = panel.title; this.cards[k].panel = panel; });
  }

  context() { return { place: this.root, head: this.edited ? { ...this.head, points: this.edited } : this.head, path: this.path(), walk: this.walk }; }

  path() { // through the places of this panel in all steps so far
    const found = [];
    for (let i = 0; i <= this.shown; i++) for (const p of this.frames[i].panels) if (p.path && p.kind === "plane") found.push(p.path);
    return found;
  }

  paint(card, panel) {
    if (panel.kind === "facts") { card.canvas.replaceChildren(make("table", { className: "facts" }, make("tbody", {}, ...panel.facts.map(([n, v]) => make("tr", {}, make("td", { textContent: n }), make("td", { textContent: String(v) })))))); return; }
    if (panel.kind === "note") { card.canvas.textContent = panel.text; card.canvas.className = "soft"; return; }
    card.made = draw(card.canvas, panel, this.context());
    card.canvas.setAttribute("aria-label", `${panel.title}. ${this.said.textContent} N and P read its marks.`);
  }

  redraw() { if (this.shown >= 0) this.show(this.shown); this.chart?.destroy(); this.chart = null; this.draw_trace(); }

  draw_trace() {
    const names = [...new Set(this.frames.flatMap(f => Object.keys(f.trace)))].slice(0, 6);
    const length = this.frames.length;
    if (!names.length || length < 2) { this.chart?.destroy(); this.chart = null; this.trace.hidden = true; return; }
    this.trace.hidden = false;
    const style = getComputedStyle(this.root), soft = style.getPropertyValue("--soft"), line = style.getPropertyValue("--line");
    const stamp = `${names.join()}|${length}|${this.over}`, wide = this.trace.clientWidth || 300;
    if (!this.chart || this.names !== names.join() || this.wide !== wide) {
      this.chart?.destroy(); this.names = names.join(); this.wide = wide;
      const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line }, size: 52, values: (u, vs) => vs.map(v => Math.abs(v) >= 1e5 || (v && Math.abs(v) < 1e-3) ? v.toExponential(0) : +v.toPrecision(4)) };
      this.chart = new uPlot({
        width: wide, height: 150, cursor: { drag: { x: false, y: false } }, legend: { live: true },
        scales: { x: { time: false }, ...Object.fromEntries(names.slice(1).map(n => [n, {}])) },
        axes: [{ ...axis, size: 34, incrs: WHOLE }, axis],
        series: [{ label: "step" }, ...names.map((n, k) => ({ label: n, stroke: COLORS[k], width: 2, scale: k ? n : "y", points: { show: length < 40, size: 4 }, dash: k ? [6, 3] : undefined }))],
        hooks: { draw: [u => { const at = this.frames[this.shown]; if (!at) return; const x = u.valToPos(at.step, "x", true); u.ctx.save(); u.ctx.strokeStyle = COLORS[3]; u.ctx.lineWidth = 2; u.ctx.beginPath(); u.ctx.moveTo(x, u.bbox.top); u.ctx.lineTo(x, u.bbox.top + u.bbox.height); u.ctx.stroke(); u.ctx.restore(); }] },
      }, this.columns(names), this.trace);
      const picture = this.chart.ctx.canvas;
      picture.setAttribute("role", "img"); picture.setAttribute("aria-label", `${names.join(" and ")} step by step`);
      this.trace.setAttribute("role", "img"); this.trace.setAttribute("aria-label", `the trace: ${names.join(", ")}`);
    } else if (this.stamp !== stamp) this.chart.setData(this.columns(names));
    else this.chart.redraw(false, false);
    this.stamp = stamp;
    this.chart.setLegend({ idx: this.shown }, false);
  }

  columns(names) { return [this.frames.map(f => f.step), ...names.map(n => this.frames.map(f => f.trace[n] ?? null))]; }

  // the scene at a step on one canvas, for the picture and the film
  picture(at, width) {
    const frame = this.frames[Math.min(at, this.frames.length - 1)], shown = frame.panels.filter(p => height(p, width) > 0).slice(0, 4), sizes = shown.map(p => height(p, width));
    const canvas = document.createElement("canvas"), style = getComputedStyle(this.root);
    canvas.width = width; canvas.height = 58 + sizes.reduce((a, b) => a + b + 24, 0);
    const g = canvas.getContext("2d");
    g.fillStyle = style.getPropertyValue("--paper"); g.fillRect(0, 0, canvas.width, canvas.height);
    g.fillStyle = style.getPropertyValue("--ink"); g.font = "bold 16px system-ui, sans-serif"; g.fillText(this.head.model, 8, 20);
    g.font = "13px system-ui, sans-serif"; g.fillText(this.words(at), 8, 42, width - 16);
    let y = 58;
    const before = this.shown; this.shown = Math.min(at, this.frames.length - 1);
    shown.forEach((panel, k) => {
      g.fillStyle = style.getPropertyValue("--soft"); g.fillText(panel.title, 8, y + 10);
      const part = document.createElement("canvas");
      draw(part, panel, { ...this.context(), walk: undefined, width, height: sizes[k], scale: 1, fixed: true });
      g.drawImage(part, 0, y + 18); y += sizes[k] + 24;
    });
    this.shown = before;
    return canvas;
  }

  under(card, event) { const box = card.canvas.getBoundingClientRect(); return card.made ? find(card.made.marks, (event.clientX - box.left) / card.made.zoom, (event.clientY - box.top) / card.made.zoom) : null; }
}
