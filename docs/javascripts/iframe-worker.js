/* Search from file:// URLs. Browsers start no workers there; this Worker runs its script in a hidden frame instead. */
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.queue = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inner = this.frame.contentWindow
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = inner.document.createElement("script")
          script.src = source
          script.onload = resolve
          script.onerror = reject
          inner.document.body.appendChild(script)
        })
      inner.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve())
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      load(url).then(() => {
        this.ready = true
        this.queue.splice(0).forEach((data) => this.postMessage(data))
      })
    }

    postMessage(data) {
      if (this.ready) this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
      else this.queue.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }
