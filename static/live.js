// The live feed: one websocket whose frames are rows of HTML, made by the same
// components as the page. Nothing is kept here but the next sequence number.

const maxRows = 500;
const policyViolation = 1008;

export function startLive() {
  if (document.body.dataset.live === undefined) return;
  new Live(document.body.dataset).connect();
}

class Live {
  constructor({ live, seq }) {
    this.query = live;
    this.next = Number(seq) + 1;
    this.wait = 500;
    this.feed = document.querySelector("[data-feed]");
    this.waiting = []; // rows that came while paused, the oldest first
    this.paused = false;
    this.newer = 0;
    this.troubled = false; // the problems on the page are not those of now
    this.pauseButton = document.querySelector("[data-pause]");
    this.newButton = document.querySelector("[data-new]");
    this.pauseButton?.addEventListener("click", () => this.setPaused(!this.paused));
    this.newButton?.addEventListener("click", () => this.flush());
  }

  connect() {
    const url = new URL(`/ws?${this.query}`, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.searchParams.set("since", this.next);
    if (document.getElementById("stations")) url.searchParams.set("stations", "");
    const socket = new WebSocket(url, ["edsight.v1.html"]);
    socket.addEventListener("open", () => {
      this.wait = 500;
      this.say();
    });
    socket.addEventListener("message", (event) => this.take(event.data));
    socket.addEventListener("close", (event) => this.lost(event.code));
    this.socket = socket;
  }

  lost(code) {
    if (code === policyViolation) {
      this.end();
      return;
    }
    this.show("lost", "◌ connection lost, trying again");
    setTimeout(() => this.again(), this.wait);
    this.wait = Math.min(this.wait * 2, 10_000);
  }

  // again connects unless the login is over, as it is when Edsight has started anew:
  // of a refused websocket the browser does not tell why.
  async again() {
    const answer = await fetch("/search.json?q=").catch(() => null);
    if (answer?.status === 401) this.end();
    else this.connect();
  }

  end() {
    this.show("lost", "○ logged out: load the page again");
  }

  // take puts each element of a frame where it belongs: rows into the feed, and
  // what has an id in place of the element with that id.
  take(html) {
    const frame = document.createElement("template");
    frame.innerHTML = html;
    for (const element of [...frame.content.children]) {
      if (element.id) {
        this.replace(element);
      } else {
        this.row(element);
      }
    }
  }

  replace(element) {
    const old = this.find(element.id);
    const changed = old?.dataset.mark !== element.dataset.mark;
    old?.replaceWith(element);
    if (changed && document.querySelector("[data-problem-list]")) {
      this.troubled = true;
      this.sayNewer();
    }
  }

  // find looks for an element on the page, and in the rows that are waiting.
  find(id) {
    const held = () => this.waiting.map((row) => row.querySelector(`#${CSS.escape(id)}`)).find((found) => found);
    return document.getElementById(id) ?? held();
  }

  row(row) {
    const seq = Number(row.dataset.seq ?? 0);
    if (seq > 0) {
      if (seq < this.next) return;
      this.next = seq + 1;
    } else if (row.dataset.next) {
      this.next = Number(row.dataset.next); // behind a gap
    }
    if (!this.feed) {
      this.newer++;
      this.sayNewer();
      return;
    }
    this.waiting.push(row);
    if (this.waiting.length > maxRows) this.waiting.shift();
    if (this.paused) this.sayNew();
    else this.flush();
  }

  // flush shows the rows that are waiting, the newest on top.
  flush() {
    for (const row of this.waiting) {
      row.classList.add("arrived");
      this.feed.prepend(row);
      this.stamp(row);
    }
    this.waiting = [];
    document.querySelector("[data-feed-empty]")?.remove();
    while (this.feed.children.length > maxRows) this.feed.lastElementChild.remove();
    this.sayNew();
  }

  // stamp carries the row's version and time into the header.
  stamp(row) {
    const version = document.querySelector("[data-version-now]");
    if (version && row.dataset.version) version.textContent = row.dataset.version;
    const time = document.querySelector("time[data-age='event']");
    if (time && row.dataset.seen) time.dateTime = row.dataset.seen;
  }

  setPaused(paused) {
    this.paused = paused;
    this.pauseButton.setAttribute("aria-pressed", String(paused));
    this.pauseButton.textContent = paused ? "▶ follow" : "‖ pause";
    if (!paused) this.flush();
    this.say();
  }

  say() {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    if (this.paused) this.show("paused", "‖ paused");
    else this.show("live", "● live");
  }

  show(state, text) {
    const element = document.querySelector("[data-ws]");
    element.dataset.ws = state;
    if (element.textContent !== text) element.textContent = text;
  }

  sayNew() {
    this.newButton.hidden = this.waiting.length === 0;
    this.newButton.textContent = `${this.waiting.length} new`;
  }

  // sayNewer tells on a page of one moment that there is a newer one.
  sayNewer() {
    const link = document.querySelector("[data-newer]");
    if (!link) return;
    link.hidden = false;
    const news = [];
    if (this.newer > 0) news.push(`${this.newer} newer`);
    if (this.troubled) news.push("problems changed");
    link.textContent = this.newer > 0 ? `load ${this.newer} newer` : "problems changed";
    link.title = `${news.join(", ")}; load the page again`;
  }
}
