// Forms: the settings of a model and the sliders of a sample, made from what the server says of them.

const make = (name, attributes = {}, ...inside) => { const e = Object.assign(document.createElement(name), attributes); e.append(...inside); return e; };
const text = value => value === null || value === undefined ? "" : Array.isArray(value) ? `(${value.join(", ")}${value.length === 1 ? "," : ""})` : String(value);

const broken = name => name.replaceAll("_", "_\u200b"); // a long name may be broken after an underscore

export function fields(form, wanted, chosen) {
  form.replaceChildren(...wanted.map(field => {
    const value = field.name in chosen ? chosen[field.name] : field.value, input = control(field, value);
    input.name = field.name;
    return make("label", { title: field.about, className: field.name in chosen ? "changed" : "" }, broken(field.name), input);
  }));
}

function control(field, value) {
  if (field.kind === "tick") return make("input", { type: "checkbox", checked: Boolean(value) });
  if (field.kind === "choice") {
    const options = field.options.map(o => new Option(o, o)), select = make("select", {}, ...(field.none ? [new Option("none", "")] : []), ...options);
    if (value !== null && !field.options.includes(String(value))) select.append(new Option(text(value), text(value)));
    select.value = text(value);
    return select;
  }
  if (field.kind === "number" && !field.options.length) {
    const input = make("input", { type: "number", value: text(value), placeholder: field.none ? "none" : "" });
    input.step = field.whole ? "1" : "any";
    if (field.low !== null) input.min = field.low;
    if (field.high !== null) input.max = field.high;
    return input;
  }
  return make("input", { type: "text", value: text(value), placeholder: field.options?.join(", ") || "none", spellcheck: false });
}

// Returns the settings that differ from those the scene opens with.
export function read(form, wanted) {
  const found = {};
  for (const field of wanted) {
    const input = form.elements[field.name];
    if (!input) continue;
    let value;
    if (field.kind === "tick") value = input.checked;
    else if (input.value === "") value = null;
    else if (field.kind === "number" && input.type === "number") value = Number(input.value);
    else if (field.kind === "number") value = Number.isNaN(Number(input.value)) ? input.value : Number(input.value);
    else value = input.value;
    if (text(value) !== text(field.value)) found[field.name] = value;
  }
  return found;
}

export function sliders(place, wanted, chosen, changed) {
  place.replaceChildren(...wanted.map(slider => {
    const value = chosen[slider.name] ?? slider.value, shown = make("output", { textContent: String(value) });
    const input = make("input", { type: "range", min: slider.low, max: slider.high, step: slider.step, name: slider.name }); input.value = value;
    input.addEventListener("input", () => { shown.textContent = input.value; });
    input.addEventListener("change", () => changed({ ...Object.fromEntries([...place.querySelectorAll("input")].filter(i => i === input || i.name in chosen).map(i => [i.name, Number(i.value)])) }));
    return make("label", {}, slider.name.replaceAll("_", " "), input, shown);
  }));
}
