// Search: words in, links out. Whatever comes from the index is set as text, never as markup.
const language = document.documentElement.lang;
const state = document.getElementById("state");
const results = document.getElementById("results");
const more = document.getElementById("more");
const field = document.getElementById("find");
const PAGE = 20;
const HAN = /\p{Script=Han}/u;
const index = new URL("../pagefind/", import.meta.url);

const query = (new URLSearchParams(location.search).get("q") || "").trim();
field.value = query;
if (query) {
  document.title = `${query} · ${document.title}`;
  search().catch(() => { state.textContent = state.dataset.failed; });
} else {
  field.focus();
}

async function search() {
  const { createInstance } = await import(new URL("pagefind.js", index));
  const pagefind = inLanguage(HAN.test(query) ? "zh-Hans" : language, () => createInstance({}));
  await pagefind.options({ baseUrl: new URL("../", import.meta.url).pathname, excerptLength: 24 });
  await pagefind.init();
  const found = (await pagefind.search(query)).results;
  state.textContent = found.length ? `${state.dataset.found} ${found.length.toLocaleString(language)}` : state.dataset.none;
  let shown = 0;
  async function show() {
    const rows = await Promise.all(found.slice(shown, shown + PAGE).map((one) => one.data()));
    for (const row of rows) results.append(item(row));
    shown += rows.length;
    more.hidden = shown >= found.length;
  }
  more.addEventListener("click", show);
  await show();
}

// Chinese words stand on the Chinese pages alone: an index is chosen by the language of the page, once, where it begins.
function inLanguage(wanted, begin) {
  document.documentElement.lang = wanted;
  try { return begin(); } finally { document.documentElement.lang = language; }
}

function item(row) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = row.url;
  link.textContent = row.meta.title;
  if (HAN.test(row.meta.title)) link.lang = "zh-Hans";
  const words = document.createElement("span");
  words.className = "meta";
  for (const [number, part] of row.excerpt.split(/<\/?mark>/).entries()) {
    const piece = document.createElement(number % 2 ? "mark" : "span");
    piece.textContent = plain(part);
    words.append(piece);
  }
  line.append(link, words);
  return line;
}

// The index escapes what would be markup and parts Chinese words; text needs the characters themselves.
function plain(text) {
  return text.replaceAll("\u200b", "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
