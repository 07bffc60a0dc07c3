// A browser starts no worker for a page opened from disk, so there the search runs in a hidden frame instead.
// The theme would load such a replacement from the network.
if (location.protocol === "file:") {
  const load = (scope, url) =>
    new Promise((loaded, failed) => {
      const script = scope.document.createElement("script");
      Object.assign(script, { src: new URL(url, location), onload: loaded, onerror: failed });
      scope.document.documentElement.append(script);
    });
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = Object.assign(document.createElement("iframe"), { hidden: true });
      document.documentElement.append(this.frame);
      const scope = (this.scope = this.frame.contentWindow);
      scope.importScripts = async (...urls) => {
        for (const each of urls) await load(scope, each);
      };
      scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = load(scope, url);
    }
    postMessage(data) {
      this.ready.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
