// Fields with data-suggest offer what the search finds of that kind, while somebody
// types.

const pause = 150;

async function suggest(input) {
  const text = input.value.trim();
  if (text.length < 2) return;
  const answer = await fetch(`/search.json?q=${encodeURIComponent(text)}`);
  if (!answer.ok || input.value.trim() !== text) return;
  const { hits } = await answer.json();
  const found = hits.find((hit) => hit.kind === input.dataset.suggest)?.links ?? [];
  input.list.replaceChildren(...found.map(({ text }) => {
    const option = document.createElement("option");
    option.value = text.split("/").pop(); // a service is named with its namespace
    return option;
  }));
}

export function startSuggest() {
  let timer;
  document.addEventListener("input", (event) => {
    const input = event.target.closest("[data-suggest]");
    if (!input) return;
    clearTimeout(timer);
    timer = setTimeout(() => suggest(input).catch(() => input.list.replaceChildren()), pause);
  });
}
