// The scene of one run in a notebook.

function render({ model, el }) {
  el.classList.add("gnomon-lab");
  const bar = document.createElement("div"), place = document.createElement("div"), tip = document.createElement("div");
  bar.className = "bar"; bar.setAttribute("role", "toolbar");
  const button = (text, label, act) => { const b = document.createElement("button"); b.type = "button"; b.textContent = text; b.setAttribute("aria-label", label); b.onclick = act; bar.append(b); return b; };
  const frames = model.get("frames");
  let at = 0, timer = null;
  const scene = new Scene(place, { head() {}, arrived() {}, canvas(s, card) {
    tip.className = "tip"; tip.hidden = true;
    card.canvas.addEventListener("pointermove", event => { const mark = s.under(card, event); tip.hidden = !mark; if (mark) tip.textContent = mark.tip(); });
    card.canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  } });
  scene.head = model.get("head"); scene.frames = frames; scene.over = true;
  scene.title.textContent = scene.head.model; scene.formula.innerHTML = scene.head.formula;
  const range = document.createElement("input");
  range.type = "range"; range.min = 0; range.max = Math.max(0, frames.length - 1); range.setAttribute("aria-label", "Step");
  const show = to => { at = Math.max(0, Math.min(frames.length - 1, to)); range.value = at; if (frames.length) scene.show(at); };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "▶ Run"; };
  button("◀", "One step back", () => { stop(); show(at - 1); });
  const play = button("▶ Run", "Run", () => {
    if (timer) { stop(); return; }
    if (at >= frames.length - 1) at = -1;
    play.textContent = "⏸ Pause";
    timer = setInterval(() => { show(at + 1); if (at >= frames.length - 1) stop(); }, 160);
  });
  button("▶", "One step", () => { stop(); show(at + 1); });
  range.oninput = () => { stop(); show(+range.value); };
  bar.append(range);
  el.append(bar, place, tip);
  requestAnimationFrame(() => show(0));
  return () => { stop(); scene.remove(); };
}

export default { render };
