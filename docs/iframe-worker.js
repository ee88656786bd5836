// Search from disk: for a page that was opened as a file a browser starts no worker, so the script of the search runs in
// a hidden frame, and a channel carries the messages. The plugin "offline" looks for this file's name.
function prepare() {
  window.connect = port => {
    window.postMessage = message => port.postMessage(message)
    port.onmessage = ({ data }) => window.dispatchEvent(new MessageEvent("message", { data }))
  }
  window.importScripts = async (...scripts) => {
    for (const src of scripts)
      await new Promise((onload, onerror) =>
        document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror })))
  }
}

function runInFrame(script) {
  const { port1: ours, port2: theirs } = new MessageChannel()
  const frame = document.createElement("iframe")
  frame.hidden = true
  frame.srcdoc = `<script>(${prepare})()</script><script src="${new URL(script, location.href)}"></script>`
  frame.onload = () => frame.contentWindow.connect(theirs)
  document.documentElement.append(frame)
  ours.start()
  return ours
}

if (location.protocol === "file:") window.Worker = runInFrame
