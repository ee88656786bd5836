// The scene of one run in a notebook.

function render({ model, el }) {
  el.classList.add("gnomon-lab");
  const bar = document.createElement("div"), place = document.createElement("div"), tip = document.createElement("div");
  bar.className = "bar"; tip.className = "tip"; tip.setAttribute("role", "status"); bar.setAttribute("role", "toolbar"); bar.setAttribute("aria-label", "Steps");
  const button = (text, label, act) => { const b = document.createElement("button"); b.type = "button"; b.textContent = text; b.setAttribute("aria-label", label); b.onclick = act; bar.append(b); return b; };
  const frames = model.get("frames");
  let at = 0, timer = null;
  const scene = new Scene(place, { head() {}, arrived() {}, canvas(s, card) {
        card.canvas.addEventListener("pointermove", event => { const mark = s.under(card, event); tip.textContent = mark ? mark.tip() : ""; });
    card.canvas.addEventListener("pointerleave", () => { tip.textContent = ""; });
  } });
  scene.head = model.get("head"); scene.frames = frames; scene.over = true;
  scene.title.textContent = scene.head.model; scene.formula.innerHTML = scene.head.formula;
  const range = document.createElement("input");
  range.type = "range"; range.min = 0; range.max = Math.max(0, frames.length - 1); range.setAttribute("aria-label", "Step");
  const count = document.createElement("output");
  const show = to => {
    at = Math.max(0, Math.min(frames.length - 1, to)); range.value = at;
    if (frames.length) { scene.show(at); count.textContent = `${frames[at].step} of ${frames.at(-1).step}`; }
  };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "▶ Run"; play.setAttribute("aria-label", "Run"); };
  button("◀", "One step back", () => { stop(); show(at - 1); });
  const play = button("▶ Run", "Run", () => {
    if (timer) { stop(); return; }
    if (at >= frames.length - 1) at = -1;
    play.textContent = "‖ Pause"; play.setAttribute("aria-label", "Pause");
    timer = setInterval(() => { show(at + 1); if (at >= frames.length - 1) stop(); }, 160);
  });
  button("▶", "One step", () => { stop(); show(at + 1); });
  range.oninput = () => { stop(); show(+range.value); };
  bar.append(range, count);
  el.append(bar, place, tip);
  let wide = 0; // drawn when there is room, and again when there is more or less of it
  const room = new ResizeObserver(() => { const now = Math.round(place.clientWidth); if (now && now !== wide) { wide = now; scene.shown < 0 ? show(0) : scene.redraw(); } });
  room.observe(place);
  return () => { stop(); room.disconnect(); scene.remove(); };
}

export default { render };
