// The page: what is chosen, what runs, where the reader is.

import { get, post, token, trusted, Refusal } from "./talk.js";
import { Scene } from "./scene.js";
import { fields, read, sliders } from "./forms.js";

const $ = id => document.getElementById(id);
const state = { model: "KMeans", settings: {}, second: "", settings2: {}, data: {}, lesson: "" };
const about = new Map(); // descriptions of models, by name
const scenes = [];
let at = 0, playing = false, last = 0, dropped = null, lessons = [], topics = [], epoch = 0;

// what is chosen is in the address, so that a reload and a link open the same scene

function remember() {
  const said = new URLSearchParams({ token });
  for (const [name, value] of Object.entries(state)) {
    const text = typeof value === "string" ? value : Object.keys(value).length ? JSON.stringify(value) : "";
    if (text && text.length < 60000) said.set(name, text);
  }
  history.replaceState(null, "", `#${said}`);
}
function recall() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(state)) {
    const text = said.get(name);
    if (text === null) continue;
    if (typeof state[name] === "string") state[name] = text;
    else try { const value = JSON.parse(text); if (value && typeof value === "object") state[name] = value; } catch { /* a spoiled link opens the usual scene */ }
  }
}

function notice(text) { $("notice").textContent = text || ""; $("notice").hidden = !text; }

async function describe(name) {
  if (!about.has(name)) about.set(name, await get(`api/model/${encodeURIComponent(name)}`));
  return about.get(name);
}

// opening a scene

async function open({ run = true, keep = false } = {}) {
  const mine = ++epoch;
  try {
    const first = await describe(state.model), second = state.second ? await describe(state.second) : null;
    if (mine !== epoch) return;
    if (!state.data.points && !state.data.table && state.data.sample && !first.data.some(d => d.name === state.data.sample)) state.data = {};
    if (state.data.points && !first.paint.includes(state.data.paint)) state.data = {}; // painted for another kind of learner
    notice("");
    controls(first, second);
    while (scenes.length > (second ? 2 : 1)) scenes.pop().remove();
    while (scenes.length < (second ? 2 : 1)) scenes.push(new Scene($("scenes"), hooks));
    for (const scene of scenes) scene.edited = null;
    remember();
    if (run) start(keep);
  } catch (error) { if (mine === epoch) refused(error); }
}

function start(keep = false) {
  if (!keep) at = 0;
  playing = true; last = performance.now();
  for (const [k, scene] of scenes.entries()) {
    const second = k === 1;
    let data = state.data;
    if (second && !data.points && !data.table) data = { sample: currentSample(), ...state.data };
    scene.start({ model: second ? state.second : state.model, settings: second ? state.settings2 : state.settings, data });
  }
  refresh();
}

function refused(error) {
  if (error instanceof Refusal) notice(sentence(error.message)); else { notice("The server does not answer. Start `gnomon lab` again; the page comes back with it."); watch(); }
}
const sentence = text => text.charAt(0).toUpperCase() + text.slice(1);

// controls

function currentSample() { return state.data.sample || about.get(state.model)?.data[0].name; }

function controls(first, second) {
  $("model").value = state.model; $("second").value = state.second; $("lesson").value = state.lesson;
  document.title = `${state.model}: gnomon lab`;
  $("sample").replaceChildren(...first.data.map(d => new Option(d.about.replace(/\.$/, ""), d.name)), ...(state.data.points ? [new Option("painted points", "*points")] : []), ...(state.data.table ? [new Option(state.data.file || "the dropped table", "*table")] : []));
  $("sample").value = state.data.points ? "*points" : state.data.table ? "*table" : currentSample();
  const sample = state.data.points || state.data.table ? null : first.data.find(d => d.name === currentSample());
  sliders($("sliders"), sample?.sliders || [], state.data, changed => { state.data = { ...changed, sample: sample.name }; leaveLesson(); open(); });
  $("target-row").hidden = !state.data.table;
  if (state.data.table && dropped) {
    $("target").replaceChildren(new Option("none", ""), ...dropped.columns.map(c => new Option(c, c)));
    $("target").value = state.data.target || "";
  }
  fields($("settings"), first.form, state.settings);
  $("second-settings").hidden = !second;
  if (second) fields($("settings2"), second.form, state.settings2);
}
function leaveLesson() { state.lesson = ""; $("words").hidden = true; }

for (const [id, key] of [["settings", "settings"], ["settings2", "settings2"]]) {
  const changed = () => { state[key] = read($(id), about.get(id === "settings" ? state.model : state.second).form); open(); };
  $(id).addEventListener("change", changed);
  $(id).addEventListener("submit", event => { event.preventDefault(); changed(); });
}
$("model").addEventListener("change", () => choose($("model").value.trim()));
$("second").addEventListener("change", () => { state.second = $("second").value.trim(); state.settings2 = {}; leaveLesson(); open(); });
$("topic").addEventListener("change", () => { const found = topics.find(t => t.topic === $("topic").value); if (found) choose(found.model); else if ($("topic").value) notice("No topic has this name; choose one of the list."); });
$("sample").addEventListener("change", () => { if ($("sample").value[0] !== "*") { state.data = { sample: $("sample").value }; leaveLesson(); open(); } });
$("target").addEventListener("change", () => { state.data.target = $("target").value; if (!state.data.target) delete state.data.target; open(); });
$("lesson").addEventListener("change", () => lesson($("lesson").value));

function choose(name) {
  if (!name) return;
  state.model = name; state.settings = {}; if (!state.data.table && !state.data.points) state.data = {}; leaveLesson();
  open();
}

function lesson(name) {
  const found = lessons.find(l => l.name === name);
  if (!found) { leaveLesson(); remember(); return; }
  words(found);
  Object.assign(state, { lesson: name, model: found.models[0].model, settings: found.models[0].settings, second: found.models[1]?.model || "", settings2: found.models[1]?.settings || {}, data: { ...found.data } });
  open();
}
function words(found) {
  $("words").hidden = false; $("lesson-title").textContent = found.title;
  $("sentences").textContent = found.sentences.join(" "); $("attempt").replaceChildren(Object.assign(document.createElement("strong"), { textContent: `Try: ${found.attempt}` }));
}

// the steps

const count = () => Math.max(0, ...scenes.map(s => s.frames.length));
const finished = () => scenes.every(s => s.over);

function refresh() {
  const n = count();
  at = Math.max(0, Math.min(at, Math.max(0, n - 1)));
  for (const scene of scenes) if (scene.frames.length) scene.show(at);
  $("at").max = Math.max(0, n - 1); $("at").value = at;
  for (const scene of scenes) scene.said.setAttribute("aria-live", playing ? "off" : "polite");
  const step = scenes.map(s => s.frames[Math.min(at, s.frames.length - 1)]?.step).filter(s => s !== undefined);
  $("count").textContent = n ? `${Math.max(...step)} of ${scenes.map(s => s.frames.at(-1)?.step ?? 0).reduce((a, b) => Math.max(a, b), 0)}${finished() ? "" : "…"}` : "…";
  $("at").setAttribute("aria-valuetext", `step ${$("count").textContent}`);
  $("play").textContent = playing ? "‖ Pause" : "▶ Run"; $("play").setAttribute("aria-label", playing ? "Pause" : "Run");
}

function go(to) { playing = false; at = Math.max(0, Math.min(count() - 1, to)); refresh(); }
function toggle() {
  if (!scenes.length || (!scenes[0].frames.length && (scenes[0].over || !scenes[0].control))) { open(); return; }
  playing = !playing;
  if (playing && at >= count() - 1 && finished()) at = 0;
  last = performance.now(); refresh();
}

function tick(now) {
  if (playing && count()) {
    const wait = 1000 / $("speed").value;
    if (now - last >= wait) {
      if (at < count() - 1) { at += Math.max(1, Math.min(count() - 1 - at, Math.floor((now - last) / wait / 4) || 1)); last = now; refresh(); }
      else if (finished()) { playing = false; refresh(); }
    }
  }
  requestAnimationFrame(tick);
}

let refreshed = 0;
const hooks = {
  head(scene) { if (scene === scenes[0]) { paintable(scene.head.points); tableSaid(scene.head.said); $("code").hidden = true; } },
  arrived(scene) { // a step that is not shown yet lengthens the slider; the rest is brought up to date now and then
    const now = performance.now();
    if (scene.frames.length <= 1 || scene.over || (!playing && now - refreshed > 250)) { refreshed = now; refresh(); } else $("at").max = Math.max(0, count() - 1);
  },
  canvas(scene, card) { hover(scene, card); paint(scene, card); },
};

$("play").onclick = toggle; $("forward").onclick = () => go(at + 1); $("back").onclick = () => go(at - 1); $("first").onclick = () => go(0); $("last").onclick = () => go(count() - 1);
$("at").addEventListener("input", () => go(+$("at").value));
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=range]):not([type=radio]):not([type=checkbox]), select, textarea, pre")) return;
  if (["range", "radio"].includes(event.target.type) && (event.key.startsWith("Arrow") || (event.target.id !== "at" && ["Home", "End"].includes(event.key)))) return;
  if (event.key === " " && event.target.closest("button, input[type=radio], input[type=checkbox], a")) return;
  const act = { " ": toggle, ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1), Home: () => go(0), End: () => go(count() - 1), t: teach, T: teach }[event.key];
  if (act) { act(); event.preventDefault(); }
});
function teach() {
  const on = document.body.classList.toggle("teaching");
  $("teach").setAttribute("aria-pressed", on);
  if (on) document.documentElement.requestFullscreen?.().catch(() => {}); else if (document.fullscreenElement) document.exitFullscreen();
  setTimeout(() => scenes.forEach(s => s.redraw()), 60);
}
$("teach").onclick = teach;
$("theme").onclick = () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark"; scenes.forEach(s => s.redraw());
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => scenes.forEach(s => s.redraw()));
let resized; addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => scenes.forEach(s => s.redraw()), 80); });

// hovering

function hover(scene, card) {
  const tip = $("tip");
  let read = -1; // the mark that the keyboard has come to
  const tell = (mark, x, y) => {
    tip.hidden = !mark;
    if (mark) { tip.textContent = mark.tip(); tip.style.left = `${Math.max(0, Math.min(innerWidth - tip.offsetWidth - 8, x + 14))}px`; tip.style.top = `${Math.max(0, Math.min(innerHeight - tip.offsetHeight - 8, y + 14))}px`; }
  };
  const show = event => tell(scene.under(card, event), event.clientX, event.clientY);
  const hide = () => { tip.hidden = true; };
  card.canvas.addEventListener("pointermove", show); card.canvas.addEventListener("pointerdown", show);
  card.canvas.addEventListener("pointerleave", hide); card.canvas.addEventListener("blur", hide);
  card.canvas.addEventListener("keydown", event => { // N and P read the marks of a picture one by one
    const marks = card.made?.marks || [], by = { n: 1, p: -1 }[event.key.toLowerCase()];
    if (event.key === "Escape") hide();
    if (!by || !marks.length || event.ctrlKey || event.metaKey || event.altKey) return;
    read = (Math.max(read, by > 0 ? -1 : 0) + by + marks.length) % marks.length;
    const mark = marks[read], box = card.canvas.getBoundingClientRect();
    mark.at = [mark.x, mark.y]; tell(mark, box.left + mark.x * card.made.zoom, box.top + mark.y * card.made.zoom);
  });
}

// painting

const tool = () => document.querySelector("input[name=tool]:checked").value;
function paintable(points) {
  const kind = points?.paint;
  $("paint").hidden = !kind; $("brush-row").hidden = kind !== "classes";
  if (!kind) document.querySelector("input[name=tool][value=look]").checked = true;
}
for (const radio of document.querySelectorAll("input[name=tool]")) radio.addEventListener("change", () => { for (const c of document.querySelectorAll("canvas")) c.classList.toggle("painting", tool() !== "look"); });
$("clear").onclick = () => { const head = scenes[0]?.head?.points; if (!head?.paint) return; state.data = { points: [[(head.xlim[0] + head.xlim[1]) / 2, (head.ylim[0] + head.ylim[1]) / 2, 0]], paint: head.paint }; repaint(); document.querySelector("input[name=tool][value=add]").checked = true; };

function painted() { // the points as the page has them now
  const head = scenes[0].head.points;
  if (state.data.points) return state.data.points.map(p => [...p]);
  const names = head.groups ? [...new Set(head.groups)].sort() : [];
  return head.xy.map(([x, y], i) => [x, y, head.groups ? Math.min(6, names.indexOf(head.groups[i])) : 0]);
}
let waiting = null;
function repaint(live = false) {
  leaveLessonKeepWords();
  for (const scene of scenes) if (scene.head?.points) { scene.edited = { ...scene.head.points, xy: state.data.points.map(p => [p[0], p[1]]) }; }
  clearTimeout(waiting);
  if (live) scenes.forEach(s => { s.fresh_points = true; if (s.shown >= 0 && s.frames[s.shown]) s.cards.forEach(c => c.panel && c.panel.kind === "plane" && s.paint(c, c.panel)); });
  waiting = setTimeout(() => open(), live ? 350 : 0);
}
function leaveLessonKeepWords() { state.lesson = ""; }
function paint(scene, card) {
  let moving = -1;
  const place = event => { const box = card.canvas.getBoundingClientRect(), back = card.made?.back; return back ? [back.x((event.clientX - box.left) / card.made.zoom), back.y((event.clientY - box.top) / card.made.zoom)] : null; };
  const ready = () => scene.head?.points?.paint && card.panel?.kind === "plane" && card.panel.layers.some(l => l.type === "data");
  card.canvas.addEventListener("pointerdown", event => {
    if (tool() === "look" || !ready()) return;
    event.preventDefault();
    const points = painted(), mark = scene.under(card, event), near = mark && mark.data !== undefined ? mark.data : -1;
    if (tool() === "add") {
      const [x, y] = place(event);
      if (points.length >= 2000) { notice("Paint 2000 points at most."); return; }
      points.push([x, y, +$("brush").value || 0]); state.data = { points, paint: scene.head.points.paint }; repaint(true);
    } else if (near >= 0 && tool() === "erase" && points.length > 1) { points.splice(near, 1); state.data = { points, paint: scene.head.points.paint }; repaint(true); }
    else if (near >= 0 && tool() === "move") { moving = near; state.data = { points, paint: scene.head.points.paint }; card.canvas.setPointerCapture(event.pointerId); }
  });
  card.canvas.addEventListener("pointermove", event => {
    if (moving < 0) return;
    const to = place(event); if (!to) return;
    state.data.points[moving] = [to[0], to[1], state.data.points[moving][2]]; repaint(true);
  });
  const end = () => { if (moving >= 0) { moving = -1; repaint(); } };
  card.canvas.addEventListener("pointerup", end); card.canvas.addEventListener("pointercancel", end);
}

// tables

const LIMIT = 50e6;
async function drop(file) {
  if (!file) return;
  if (file.size > LIMIT) { notice(`${file.name} has ${Math.round(file.size / 1e6)} MB; the lab takes 50 MB at most. Take a part of it.`); return; }
  try {
    dropped = await (await post(`api/table?name=${encodeURIComponent(file.name)}`, file)).json();
    if (file.size < 4e6) try { sessionStorage.setItem("gnomon-table", JSON.stringify({ name: file.name, text: await file.text() })); } catch { /* too large to keep */ }
    const kind = about.get(state.model);
    const target = kind?.data[0].sliders && kind.form && /Classifier|Regressor|Regression|SVC|SVR|NB|Perceptron|Lasso|Ridge|ElasticNet|Analysis|Pegasos/.test(state.model) ? dropped.columns.at(-1) : undefined;
    state.data = { table: dropped.table, file: dropped.name, ...(target ? { target } : {}) };
    leaveLesson(); open();
  } catch (error) { refused(error); }
}
function tableSaid(said) { $("table-said").textContent = state.data.table ? said.join(" ") : ""; }
$("file").addEventListener("change", () => drop($("file").files[0]));
for (const name of ["dragover", "dragenter"]) addEventListener(name, event => { event.preventDefault(); $("drop").classList.add("over"); });
addEventListener("dragleave", () => $("drop").classList.remove("over"));
addEventListener("drop", event => { event.preventDefault(); $("drop").classList.remove("over"); drop(event.dataTransfer.files[0]); });

async function again() { // after a reload or a restart: the table is sent once more
  let kept = null;
  try { kept = JSON.parse(sessionStorage.getItem("gnomon-table")); } catch { /* nothing kept */ }
  if (!state.data.table) return;
  if (kept && kept.name === state.data.file) {
    dropped = await (await post(`api/table?name=${encodeURIComponent(kept.name)}`, kept.text)).json();
    state.data.table = dropped.table;
  }
}

// take it with you

function save(blob, name) { const a = document.createElement("a"); a.href = URL.createObjectURL(blob); a.download = name; a.click(); setTimeout(() => URL.revokeObjectURL(a.href), 5000); }
function both(step) {
  const pictures = scenes.filter(s => s.frames.length).map(s => s.picture(step, scenes.length > 1 ? 460 : 640)), canvas = document.createElement("canvas");
  canvas.width = pictures.reduce((a, p) => a + p.width, 0); canvas.height = Math.max(...pictures.map(p => p.height));
  const g = canvas.getContext("2d"); g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper"); g.fillRect(0, 0, canvas.width, canvas.height);
  let x = 0; for (const p of pictures) { g.drawImage(p, x, 0); x += p.width; }
  return canvas;
}
const png = canvas => new Promise(done => canvas.toBlob(done, "image/png"));
async function copied(text, said) { try { await navigator.clipboard.writeText(text); $("taken").textContent = said; } catch { $("taken").textContent = "Mark it and copy."; } }
$("take-code").onclick = () => { $("code").textContent = scenes.map(s => s.head?.code || "").join("\n"); $("code").hidden = false; copied($("code").textContent, "The program below is copied."); };
$("take-link").onclick = () => { remember(); $("code").textContent = location.href; $("code").hidden = false; copied(location.href, "The link is copied; it opens this scene while the lab runs on this machine."); };
$("take-picture").onclick = async () => { if (count()) { save(await png(both(at)), `${state.model}-step-${at}.png`); $("taken").textContent = "The picture is saved."; } };
$("take-film").onclick = async () => {
  const n = count(); if (!n) return;
  $("taken").textContent = "Drawing the film …";
  const stride = Math.ceil(n / 100), parts = [];
  for (let i = 0; i < n; i++) if (i % stride === 0 || i === n - 1) {
    const part = await (await png(both(i))).arrayBuffer(), size = new DataView(new ArrayBuffer(4));
    size.setUint32(0, part.byteLength); parts.push(size.buffer, part);
  }
  try { save(await (await post("api/film", new Blob(parts))).blob(), `${state.model}.gif`); $("taken").textContent = "The film is saved."; } catch (error) { $("taken").textContent = ""; refused(error); }
};

// a server that goes, and comes back

let watching = null, gone = false;
async function beat() {
  if (document.hidden && !gone) return;
  try {
    await get("api/alive");
    if (gone) { gone = false; notice(""); await again(); open({ keep: !scenes.some(s => s.lost) }); }
  } catch (error) {
    if (error instanceof Refusal) { notice(sentence(error.message)); return; }
    gone = true; notice("The server does not answer. Start `gnomon lab` again; the page comes back with it.");
  }
}
function watch() { if (!watching) watching = setInterval(beat, 1500); }

// the beginning

recall();
requestAnimationFrame(tick);
watch();
(async () => {
  try {
    await again();
    const first = state.lesson ? get("api/lessons") : null;
    if (first) { lessons = await first; const found = lessons.find(l => l.name === state.lesson); if (found) { words(found); if (!new URLSearchParams(location.hash.slice(1)).get("model")) Object.assign(state, { model: found.models[0].model, settings: found.models[0].settings, second: found.models[1]?.model || "", settings2: found.models[1]?.settings || {}, data: { ...found.data } }); } }
    await open({ run: trusted });
    if (!trusted) notice(token ? "This link came without the token. Press Run to run it." : "The page needs its token; open the address that `gnomon lab` shows.");
    lessons = await get("api/lessons");
    for (const family of [...new Set(lessons.map(l => l.family))].sort()) {
      const group = Object.assign(document.createElement("optgroup"), { label: family === "lab" ? "theory" : family });
      group.append(...lessons.filter(l => l.family === family).map(l => new Option(l.title, l.name)));
      $("lesson").append(group);
    }
    $("lesson").value = state.lesson;
    $("models").append(...(await get("api/models")).map(m => new Option(m.family, m.name)));
    topics = await get("api/topics");
    $("topics").append(...topics.map(t => new Option(t.model, t.topic)));
  } catch (error) { refused(error); }
})();

// for tests and measurements
window.gnomonLab = { scenes, state, get at() { return at; }, get count() { return count(); }, get playing() { return playing; }, finished, go };
