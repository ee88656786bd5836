// Search from disk: a browser starts no worker for a page that was opened as a file, so the search runs in a hidden
// frame that speaks as a worker does. The plugin "offline" writes the index as a script and looks for this file's name.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.srcdoc = `<script>
        window.receive = window.postMessage.bind(window)
        window.postMessage = message => parent.postMessage(message, "*")
        window.importScripts = (...urls) => urls.reduce((done, url) => done.then(() => new Promise((resolve, reject) => {
          const script = document.createElement("script")
          Object.assign(script, { src: url, onload: resolve, onerror: reject })
          document.head.append(script)
        })), Promise.resolve())
      <\/script><script src="${new URL(url, location.href)}"><\/script>`
      this.ready = new Promise(resolve => frame.addEventListener("load", () => resolve(frame.contentWindow)))
      window.addEventListener("message", event => {
        if (event.source === frame.contentWindow)
          this.dispatchEvent(new MessageEvent("message", { data: event.data }))
      })
      document.body ? document.body.append(frame) : addEventListener("DOMContentLoaded", () => document.body.append(frame))
    }

    postMessage(message) {
      this.ready.then(frame => frame.receive(message, "*"))
    }
  }
}
