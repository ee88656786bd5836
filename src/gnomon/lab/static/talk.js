// How the page talks to its server: every request carries the token of the address; a refusal is a sentence.

const fromAddress = new URLSearchParams(location.hash.slice(1)).get("token");
if (fromAddress) try { localStorage.setItem("gnomon-token", fromAddress); } catch { /* a private window */ }
export const trusted = Boolean(fromAddress); // a link without the token does not run by itself
export const token = fromAddress || stored() || "";
function stored() { try { return localStorage.getItem("gnomon-token"); } catch { return null; } }

export class Refusal extends Error { constructor(message, status) { super(message); this.status = status; } }

async function send(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: { "x-gnomon-token": token, ...options.headers }, cache: "no-store" });
  if (answer.ok) return answer;
  let said = `the server answered ${answer.status}`;
  try { said = (await answer.json()).error || said; } catch { /* not JSON */ }
  throw new Refusal(said, answer.status);
}
export const get = async path => (await send(path)).json();
export const post = async (path, body, options = {}) => send(path, { method: "POST", body, ...options });

// Calls `each` with every line of a run as it comes.
export async function run(asked, each, signal) {
  const answer = await post("api/run", JSON.stringify(asked), { signal, headers: { "content-type": "application/json" } });
  const reader = answer.body.getReader(), words = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + words.decode(value, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) each(JSON.parse(line));
  }
}
