// Panels on a canvas. Knows planes, matrices, bars, graphs and images; nothing about learning.

export const COLORS = ["#2f7fd6", "#d9731a", "#1f9e77", "#cc4778", "#8b6fd1", "#a6761d", "#4a8fa3"];
const CODE = new Map([..."0123456789abcdefghijklmnopqrstuvwxyz"].map((c, i) => [c, i]));
const VIRIDIS = ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"].map(rgb);
const DIVERGING = ["#2166ac", "#67a9cf", "#d1e5f0", "#f7f7f7", "#fddbc7", "#ef8a62", "#b2182b"].map(rgb);
const NOBODY = "#7d8794"; // points without a group

function rgb(hex) { return [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16)); }
export function color(k) { return k === 35 ? NOBODY : COLORS[((k % 7) + 7) % 7]; }
function ramp(colors, t) {
  const at = Math.max(0, Math.min(1, t)) * (colors.length - 1), i = Math.min(colors.length - 2, Math.floor(at)), f = at - i;
  return colors[i].map((v, j) => v + f * (colors[i + 1][j] - v));
}
const css = c => `rgb(${c.map(Math.round).join(",")})`;
let look = null; // the colors of what is around the canvas that is being drawn
const ink = () => look.ink, soft = () => look.soft, card = () => look.card;
function around(place) {
  const style = getComputedStyle(place), of = (name, usual) => style.getPropertyValue(name).trim() || usual;
  return { ink: of("--ink", "#1c2733"), soft: of("--soft", "#5b6673"), card: of("--card", "#fff") };
}
export const short = v => v === null || v === undefined ? "" : Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-3) ? v.toExponential(1) : String(+v.toPrecision(3));

// the height of a panel for its width
export function height(panel, width) {
  if (panel.kind === "plane") return Math.max(190, Math.min(400, width * 0.66));
  if (panel.kind === "graph") return Math.max(panel.tree ? Math.min(460, 26 * new Set(panel.nodes.map(n => n.y)).size) : 290, Math.min(420, width * 0.6));
  if (panel.kind === "bars") return Math.min(330, 34 + 17 * Math.max(3, panel.values.length > 14 ? 9 : panel.values.length));
  if (panel.kind === "images") return Math.ceil(panel.images.length / 6) * (width / 6) + 6;
  if (panel.kind === "matrix") {
    const rows = panel.values.length, columns = panel.values[0].length;
    return panel.square ? Math.min(460, (width * rows) / columns) : Math.max(46, Math.min(380, rows * (rows > 30 ? 8 : 24) + (panel.columns ? 40 : 10)));
  }
  return 0;
}

// Draws a panel and returns its marks: [{x, y, r, tip}] for hovering and painting.
export function draw(canvas, panel, context) {
  const width = context.width || canvas.clientWidth || 320, tall = context.height || height(panel, width), scale = context.scale || window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(tall * scale)) {
    canvas.width = Math.round(width * scale); canvas.height = Math.round(tall * scale);
    if (!context.fixed) canvas.style.height = `${tall}px`;
  }
  look = around(canvas.isConnected ? canvas : context.place || document.documentElement);
  const g = canvas.getContext("2d");
  const zoom = !context.fixed && document.body.classList.contains("teaching") ? 1.4 : 1; // large type and large points
  g.setTransform(scale * zoom, 0, 0, scale * zoom, 0, 0);
  g.fillStyle = card(); g.fillRect(0, 0, width / zoom, tall / zoom);
  g.font = "12px system-ui, sans-serif"; g.textBaseline = "middle"; g.lineJoin = "round";
  const how = { plane, matrix, bars, graph, images }[panel.kind];
  return { zoom, ...(how ? how(g, panel, { ...context, width: width / zoom, tall: tall / zoom }) : { marks: [] }) };
}

function plane(g, panel, c) {
  const left = 46, right = c.width - 8, top = 8, bottom = c.tall - 32;
  const [x0, x1] = panel.xlim, [y0, y1] = panel.ylim;
  const X = v => left + ((v - x0) / (x1 - x0)) * (right - left), Y = v => bottom - ((v - y0) / (y1 - y0)) * (bottom - top);
  const marks = [];
  g.save(); g.beginPath(); g.rect(left, top, right - left, bottom - top); g.clip();
  for (const layer of panel.layers) LAYERS[layer.type]?.(g, layer, { ...c, X, Y, marks, panel });
  if (panel.path && c.path) stroke(g, c.path.map(p => [X(p[0]), Y(p[1])]), ink(), 2);
  g.restore();
  axes(g, panel, left, right, top, bottom, X, Y);
  const back = { x: p => x0 + ((p - left) / (right - left)) * (x1 - x0), y: p => y0 + ((bottom - p) / (bottom - top)) * (y1 - y0) };
  return { marks, back };
}

function axes(g, panel, left, right, top, bottom, X, Y) {
  g.strokeStyle = soft(); g.fillStyle = soft(); g.lineWidth = 1;
  g.beginPath(); g.moveTo(left, top); g.lineTo(left, bottom); g.lineTo(right, bottom); g.stroke();
  g.textAlign = "center";
  for (const v of ticks(panel.xlim, Math.max(2, (right - left) / 90))) { g.fillText(short(v), X(v), bottom + 10); }
  g.textAlign = "right";
  for (const v of ticks(panel.ylim, Math.max(2, (bottom - top) / 50))) g.fillText(short(v), left - 5, Y(v));
  g.textAlign = "right"; g.fillText(clip(g, panel.x, right - left), right, bottom + 24);
  g.save(); g.translate(9, top); g.rotate(-Math.PI / 2); g.fillText(clip(g, panel.y, bottom - top), 0, 0); g.restore();
}

function clip(g, text, room) {
  text = String(text);
  while (text.length > 3 && g.measureText(text).width > room) text = text.slice(0, -2).replace(/…?$/, "…");
  return text;
}

function ticks([low, high], count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw) || power * 10, found = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9 && found.length < 20; v += step) found.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return found;
}

function stroke(g, xy, style, width, dash) {
  g.strokeStyle = style; g.lineWidth = width; g.setLineDash(dash ? [5, 4] : []);
  g.beginPath();
  let pen = false;
  for (const [x, y] of xy) { if (!Number.isFinite(x) || !Number.isFinite(y)) { pen = false; continue; } pen ? g.lineTo(x, y) : g.moveTo(x, y); pen = true; }
  g.stroke(); g.setLineDash([]);
}

function dot(g, x, y, r, k) { // a shape of its own for every group, so that color is not all there is
  g.beginPath();
  switch (k % 4) {
    case 1: g.rect(x - r * 0.9, y - r * 0.9, 1.8 * r, 1.8 * r); break;
    case 2: g.moveTo(x, y - 1.2 * r); g.lineTo(x + 1.1 * r, y + 0.8 * r); g.lineTo(x - 1.1 * r, y + 0.8 * r); g.closePath(); break;
    case 3: g.moveTo(x, y - 1.3 * r); g.lineTo(x + 1.3 * r, y); g.lineTo(x, y + 1.3 * r); g.lineTo(x - 1.3 * r, y); g.closePath(); break;
    default: g.arc(x, y, r, 0, 7);
  }
  g.fill();
}

const fields = new Map();
function field(rows, columns, paint) { // a small picture, drawn large
  const key = `${rows}x${columns}`;
  if (!fields.has(key)) { const made = document.createElement("canvas"); made.width = columns; made.height = rows; fields.set(key, made); }
  const small = fields.get(key), g = small.getContext("2d"), image = g.createImageData(columns, rows);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) {
    const at = 4 * ((rows - 1 - i) * columns + j), [r, gr, b, a] = paint(i * columns + j);
    image.data[at] = r; image.data[at + 1] = gr; image.data[at + 2] = b; image.data[at + 3] = a;
  }
  g.putImageData(image, 0, 0);
  return small;
}
const RGB = COLORS.map(rgb);
function mixed(layer, i) { // the color of a point that several components share
  const sum = [0, 0, 0];
  let all = 0;
  for (let k = 0; k < layer.parts; k++) { const share = CODE.get(layer.shares[i * layer.parts + k]); all += share; for (let j = 0; j < 3; j++) sum[j] += share * RGB[k % 7][j]; }
  return all ? css(sum.map(v => v / all)) : NOBODY;
}

const LAYERS = {
  regions(g, layer, { X, Y }) {
    const made = field(layer.rows, layer.columns, i => [...RGB[CODE.get(layer.codes[i]) % 7], 56]);
    g.imageSmoothingEnabled = false;
    spread(g, made, layer, X, Y);
  },
  surface(g, layer, { X, Y }) {
    const known = layer.values.filter(v => v !== null), low = layer.low ?? Math.min(...known), high = layer.high ?? Math.max(...known);
    const made = field(layer.rows, layer.columns, i => layer.values[i] === null ? [0, 0, 0, 0] : [...ramp(VIRIDIS, high > low ? (layer.values[i] - low) / (high - low) : 0.5), 190]);
    g.imageSmoothingEnabled = true;
    spread(g, made, layer, X, Y);
  },
  data(g, layer, { X, Y, marks, head, wide }) {
    const points = head?.points; if (!points) return;
    const ringed = new Set(layer.ring), many = points.xy.length > 600, base = many ? 2.4 : 3.8, edge = card();
    points.xy.forEach(([a, b], i) => {
      const x = X(a), y = Y(b), k = layer.codes ? CODE.get(layer.codes[i]) : 0, r = base * (layer.sizes ? layer.sizes[i] : 1);
      g.fillStyle = layer.shares ? mixed(layer, i) : color(k); g.globalAlpha = 0.85; dot(g, x, y, r, k === 35 ? 0 : k); g.globalAlpha = 1;
      marks.push({ x, y, r: Math.max(6, r), data: i, tip: () => describe(points, i, layer) });
    });
    g.lineWidth = 1.5; g.strokeStyle = ink();
    for (const i of ringed) { const p = points.xy[i]; if (!p) continue; g.beginPath(); g.arc(X(p[0]), Y(p[1]), base + 3.2, 0, 7); g.stroke(); }
  },
  points(g, layer, { X, Y, marks }) {
    layer.xy.forEach(([a, b], i) => {
      const x = X(a), y = Y(b), k = layer.codes ? CODE.get(layer.codes[i]) : 0, r = layer.size;
      if (layer.mark === "cross") {
        for (const [style, width] of [[card(), 6], [color(k), 3.2]]) { stroke(g, [[x - r, y - r], [x + r, y + r]], style, width); stroke(g, [[x - r, y + r], [x + r, y - r]], style, width); }
      } else { g.fillStyle = color(k); g.globalAlpha = 0.8; dot(g, x, y, r, k); g.globalAlpha = 1; }
      marks.push({ x, y, r: Math.max(7, r), top: layer.mark === "cross", tip: () => layer.tips ? layer.tips[i] : `${short(a)}, ${short(b)}` });
    });
  },
  line(g, layer, { X, Y }) { stroke(g, layer.xy.map(([a, b]) => [X(a), Y(b)]), layer.color < 0 ? ink() : color(layer.color), layer.width, layer.dash); },
  band(g, layer, { X, Y }) {
    g.fillStyle = color(layer.color); g.globalAlpha = 0.2; g.beginPath();
    layer.x.forEach((v, i) => i ? g.lineTo(X(v), Y(layer.high[i])) : g.moveTo(X(v), Y(layer.high[i])));
    [...layer.x.keys()].reverse().forEach(i => g.lineTo(X(layer.x[i]), Y(layer.low[i])));
    g.closePath(); g.fill(); g.globalAlpha = 1;
  },
};

function spread(g, made, layer, X, Y) {
  const [x0, x1] = layer.xlim, [y0, y1] = layer.ylim;
  g.drawImage(made, X(x0), Y(y1), X(x1) - X(x0), Y(y0) - Y(y1));
}

function describe(points, i, layer) {
  const place = points.rows ? points.names.map((n, j) => `${n} ${short(points.rows[i][j])}`).join(", ") : points.xy[i].map((v, j) => `${points.axes[j]} ${short(v)}`).join(", ");
  return [`point ${i}: ${place}`, points.groups ? `is ${points.groups[i]}` : "", layer.tips ? layer.tips[i] : layer.codes ? `group ${CODE.get(layer.codes[i])}` : "",
    layer.sizes ? `weight ${short(layer.sizes[i] ** 2)} times the mean` : ""].filter(Boolean).join("; ");
}

function range(values, panel) {
  const known = values.flat().filter(v => v !== null);
  let low = panel.low ?? Math.min(...known, 0), high = panel.high ?? Math.max(...known);
  if (panel.low === undefined && !panel.diverging && known.length) low = Math.min(...known);
  if (panel.diverging) { high = Math.max(Math.abs(low), Math.abs(high), 1e-12); low = -high; }
  return [low, high > low ? high : low + 1];
}

function matrix(g, panel, c) {
  const rows = panel.values.length, columns = panel.values[0].length, [low, high] = range(panel.values, panel), marks = [];
  g.font = "11px system-ui, sans-serif";
  const left = panel.rows ? Math.min(c.width * 0.35, 8 + Math.max(...panel.rows.map(n => g.measureText(n).width))) : 4, bottom = panel.columns ? c.tall - 34 : c.tall - 4, top = 4;
  const w = (c.width - left - 4) / columns, h = (bottom - top) / rows, told = w > 34 && h > 15 && rows * columns <= 400;
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) {
    const v = panel.values[i][j], x = left + j * w, y = top + i * h;
    if (v === null) { g.fillStyle = soft(); g.globalAlpha = 0.35; g.fillRect(x, y, w, h); g.globalAlpha = 1; continue; }
    const shade = ramp(panel.diverging ? DIVERGING : VIRIDIS, (v - low) / (high - low));
    g.fillStyle = css(shade); g.fillRect(x, y, Math.ceil(w), Math.ceil(h));
    const dark = shade[0] * 0.3 + shade[1] * 0.59 + shade[2] * 0.11 < 140;
    g.fillStyle = dark ? "#fff" : "#111"; g.textAlign = "center";
    if (panel.marks) { g.font = `${Math.min(26, h * 0.4)}px system-ui, sans-serif`; g.fillText(panel.marks[i]?.[j] ?? "", x + w / 2, y + h * 0.36); g.font = "11px system-ui, sans-serif"; if (w > 30) g.fillText(short(v), x + w / 2, y + h * 0.76); }
    else if (told) g.fillText(short(v), x + w / 2, y + h / 2);
    marks.push({ x: x + w / 2, y: y + h / 2, box: [x, y, w, h], tip: () => `${panel.rows ? panel.rows[i] : `row ${i}`}, ${panel.columns ? panel.columns[j] : `column ${j}`}: ${short(v)}` });
  }
  g.fillStyle = soft(); g.textAlign = "right";
  panel.rows?.forEach((n, i) => { if (h > 9) g.fillText(clip(g, n, left - 6), left - 4, top + (i + 0.5) * h); });
  g.textAlign = "center";
  panel.columns?.forEach((n, j) => { if (w > 22) g.fillText(clip(g, n, w - 2), left + (j + 0.5) * w, bottom + 12); });
  if (panel.path?.length) {
    const xy = panel.path.map(([i, j], k) => [left + (j + 0.76) * w + 4 * Math.sin(k), top + (i + 0.56) * h + 4 * Math.cos(k)]);
    stroke(g, xy, "#111", 3.5); stroke(g, xy, "#ffb000", 2);
    const end = xy[Math.min(xy.length - 1, c.walk ?? xy.length - 1)];
    g.fillStyle = "#ffb000"; g.strokeStyle = "#111"; g.lineWidth = 1.5; g.beginPath(); g.arc(...end, 6, 0, 7); g.fill(); g.stroke();
  }
  return { marks };
}

function bars(g, panel, c) {
  const known = panel.values.map(v => v ?? 0), low = Math.min(0, ...known), high = Math.max(0, ...known), span = high - low || 1, marks = [];
  if (panel.values.length <= 14) {
    g.font = "12px system-ui, sans-serif";
    const left = Math.min(c.width * 0.4, 10 + Math.max(...panel.names.map(n => g.measureText(n).width))), room = c.width - left - 60, h = (c.tall - 8) / known.length;
    known.forEach((v, i) => {
      const a = left + ((Math.min(0, v) - low) / span) * room, b = left + ((Math.max(0, v) - low) / span) * room, y = 4 + i * h;
      g.fillStyle = color(panel.codes ? CODE.get(panel.codes[i]) : v < 0 ? 1 : 0); g.fillRect(a, y + 2, Math.max(1, b - a), h - 4);
      g.fillStyle = soft(); g.textAlign = "right"; g.fillText(clip(g, panel.names[i], left - 6), left - 4, y + h / 2);
      g.textAlign = "left"; g.fillText(short(v), b + 4, y + h / 2);
      marks.push({ x: (a + b) / 2, y: y + h / 2, box: [0, y, c.width, h], tip: () => `${panel.names[i]}: ${short(v)}` });
    });
  } else {
    const w = (c.width - 8) / known.length, Y = v => c.tall - 6 - ((v - low) / span) * (c.tall - 12);
    known.forEach((v, i) => { g.fillStyle = color(v < 0 ? 1 : 0); g.fillRect(4 + i * w, Math.min(Y(v), Y(0)), Math.max(1, w - 1), Math.abs(Y(v) - Y(0))); marks.push({ x: 4 + (i + 0.5) * w, y: Y(v / 2), box: [4 + i * w, 0, w, c.tall], tip: () => `${panel.names[i]}: ${short(v)}` }); });
  }
  return { marks };
}

function graph(g, panel, c) {
  const pad = panel.tree ? 6 : 36, X = v => pad + v * (c.width - 2 * pad), Y = v => c.tall - (pad + v * (c.tall - 2 * pad)), marks = [], r = panel.tree ? 5 : 20;
  for (const edge of panel.edges) {
    const a = panel.nodes[edge.from], b = panel.nodes[edge.to], x0 = X(a.x), y0 = Y(a.y), x1 = X(b.x), y1 = Y(b.y), long = Math.hypot(x1 - x0, y1 - y0) || 1, nx = -(y1 - y0) / long, ny = (x1 - x0) / long, bend = panel.directed ? 14 : 0;
    const mx = (x0 + x1) / 2 + nx * bend, my = (y0 + y1) / 2 + ny * bend, width = edge.value === undefined ? 1.4 : 0.6 + 5 * edge.value;
    g.strokeStyle = soft(); g.lineWidth = width; g.beginPath(); g.moveTo(x0, y0); g.quadraticCurveTo(mx, my, x1, y1); g.stroke();
    if (panel.directed) { // an arrow head at the border of the node
      const dx = x1 - mx, dy = y1 - my, d = Math.hypot(dx, dy) || 1, ex = x1 - (dx / d) * (r + 1), ey = y1 - (dy / d) * (r + 1);
      g.fillStyle = soft(); g.beginPath(); g.moveTo(ex, ey); g.lineTo(ex - (dx / d) * 9 - (dy / d) * 5, ey - (dy / d) * 9 + (dx / d) * 5); g.lineTo(ex - (dx / d) * 9 + (dy / d) * 5, ey - (dy / d) * 9 - (dx / d) * 5); g.fill();
    }
    if (edge.value !== undefined && edge.value !== null) { g.fillStyle = ink(); g.textAlign = "center"; g.fillText(short(edge.value), mx + nx * 8, my + ny * 8); }
    marks.push({ x: mx, y: my, r: 10, tip: () => edge.tip || `${a.name} → ${b.name}${edge.value === undefined ? "" : `: ${short(edge.value)}`}` });
  }
  panel.nodes.forEach((node, i) => {
    const x = X(node.x), y = Y(node.y);
    if (panel.tree) {
      g.font = "11px system-ui, sans-serif";
      const gap = Math.min(...panel.nodes.filter(n => n !== node && Math.abs(n.y - node.y) < 1e-6).map(n => Math.abs(n.x - node.x)), 0.5, 2 * node.x, 2 * (1 - node.x)), room = Math.max(12, gap * (c.width - 2 * pad) - 4), tight = room < 46, name = clip(g, node.name, room), w = Math.min(room, g.measureText(name).width + 10);
      g.fillStyle = card(); g.strokeStyle = node.code === null || node.code === undefined ? soft() : color(node.code); g.lineWidth = node.leaf ? 2.5 : 1.2;
      g.beginPath(); tight ? g.arc(x, y, 5, 0, 7) : g.roundRect(x - w / 2, y - 9, w, 18, 5); g.fill(); g.stroke();
      if (!tight) { g.fillStyle = ink(); g.textAlign = "center"; g.fillText(name, x, y); }
    } else {
      g.fillStyle = node.value === undefined || node.value === null ? (node.code === undefined ? COLORS[0] : color(node.code)) : css(ramp(VIRIDIS, node.value));
      g.beginPath(); g.arc(x, y, r, 0, 7); g.fill();
      g.font = "bold 12px system-ui, sans-serif"; g.lineWidth = 3; g.strokeStyle = "#0009"; g.textAlign = "center"; g.strokeText(clip(g, node.name, 60), x, y); g.fillStyle = "#fff"; g.fillText(clip(g, node.name, 60), x, y);
    }
    marks.push({ x, y, r: panel.tree ? 14 : r, top: true, tip: () => [node.name, node.tip].filter(Boolean).join(": ") });
  });
  return { marks };
}

function images(g, panel, c) {
  const w = c.width / 6, marks = [], scale = values => values.flat(2).filter(v => v !== null).reduce(([low, high], v) => [Math.min(low, v), Math.max(high, Math.abs(v))], [0, 1e-12]), all = scale(panel.images);
  const shade = (v, [low, high]) => v === null ? [0, 0, 0, 0] : [...(low < 0 ? ramp(DIVERGING, 0.5 + v / high / 2) : ramp(VIRIDIS, v / high)), 255];
  g.imageSmoothingEnabled = false;
  panel.images.forEach((image, k) => {
    const x0 = (k % 6) * w + 3, y0 = Math.floor(k / 6) * w + 3, side = w - 6, rows = image.length, columns = image[0].length, span = panel.each ? scale(image) : all;
    g.drawImage(field(rows, columns, i => shade(image[rows - 1 - Math.floor(i / columns)][i % columns], span)), x0, y0, side, side);
    const mark = { x: x0, y: y0, box: [x0, y0, side, side], tip: () => {
      const i = Math.min(rows - 1, Math.floor((mark.at[1] - y0) / side * rows)), j = Math.min(columns - 1, Math.floor((mark.at[0] - x0) / side * columns));
      return `${panel.word || "picture"} ${k}, row ${i}, column ${j}: ${short(image[i][j])}`;
    } };
    marks.push(mark);
  });
  return { marks };
}

export function find(marks, x, y) { // the mark under the pointer: those on top first, then the nearest
  let best = null, near = Infinity;
  for (const mark of marks) {
    if (mark.box) { const [a, b, w, h] = mark.box; if (x >= a && x < a + w && y >= b && y < b + h) { mark.at = [x, y]; return mark; } continue; }
    const d = Math.hypot(mark.x - x, mark.y - y) - (mark.top ? 4 : 0);
    if (d <= mark.r && d < near) { best = mark; near = d; }
  }
  return best;
}
