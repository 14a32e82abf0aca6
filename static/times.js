// Ages count on while the page is open, in the words of the server. Those of an
// exported state do not.

function words(seconds) {
  if (seconds < 1) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

function refresh() {
  for (const time of document.querySelectorAll("time[data-age]")) {
    const text = words(Math.max(0, (Date.now() - Date.parse(time.dateTime)) / 1000));
    if (time.textContent !== text) time.textContent = text;
  }
}

export function startTimes() {
  if (document.body.dataset.live === undefined) return;
  setInterval(refresh, 1000);
}
