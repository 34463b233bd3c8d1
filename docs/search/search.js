// The search of the site. MiniSearch ranks sections by BM25+ over headings, index entries, text, names, and the
// words with which other pages link to a section; words are split where names have a _ or a capital, stemmed, and joined by synonyms.
const Search = (() => {
  const BOOST = { heading: 3, name: 3, also: 3, title: 2, links: 2, above: 1, text: 1, code: 0.3 };
  const SYNONYM = 0.3; // of the weight of a word that was typed
  const MATCH = 0.5; // more for a heading with all words of the question and no others
  const SHOWN = 20;
  const PASSAGE = 220; // characters
  const LISTS = /^(reference\/|benchmarks|changelog|contributing|experiment\/|dependencies|gallery\/)/;

  // Pages that explain come before those that list, and what has a page of its own before its parts.
  const standing = ({ page, name, kind }) => (name && /^(method|property|attribute|option)$/.test(kind) ? 0.4 : LISTS.test(page) ? 0.6 : 1);

  const split = (text) =>
    (text.match(/[\p{L}\p{N}_]+/gu) ?? []).flatMap((word) => {
      const parts = word.split(/_+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/).filter(Boolean);
      return parts.length > 1 ? [parts.join(""), ...parts] : parts;
    });

  let index; // made when something is asked for the first time
  const made = () => {
    const { sections, synonyms, unasked } = window.SEARCHED;
    const stemmer = new window.Stemmer();
    const left_out = new Set(unasked);
    const known = new Map(); // stems of words, most of which come again and again
    const stem = (word) => {
      if (!known.has(word)) {
        const plain = word.toLowerCase();
        const british = plain.replace(/iz(e[drs]?|ing|ation)$/, "is$1");
        known.set(word, left_out.has(plain) ? null : stemmer.stemWord(british));
      }
      return known.get(word);
    };
    const stems = (text) => [...new Set(split(text).map(stem).filter(Boolean))];
    const engine = new window.MiniSearch({
      fields: Object.keys(BOOST),
      idField: "id",
      tokenize: split,
      processTerm: stem,
      extractField: (section, field) => (field === "title" && !section.anchor ? "" : section[field]),
    });
    engine.addAll(sections.map((section, id) => ({ ...section, id })));
    return { sections, stem, stems, engine, groups: synonyms.map((group) => group.map(stems).filter((words) => words.length)) };
  };

  // The weight of each word that is asked for: of those that were typed, and of those that others would type.
  const asked = (typed, groups) => {
    const weights = new Map(typed.map((word) => [word, 1]));
    for (const group of groups)
      if (group.some((words) => words.every((word) => typed.includes(word))))
        for (const words of group)
          for (const word of words)
            weights.set(word, Math.max(weights.get(word) ?? 0, SYNONYM / Math.sqrt(words.length)));
    return weights;
  };

  // Sections, best first, one of each page: {..., score, words}, where words are the stems that it was found by.
  const find = (question) => {
    index ??= made();
    const { sections, stems, engine, groups } = index;
    const typed = stems(question);
    const weights = asked(typed, groups);
    const results = engine.search([...weights.keys()].join(" "), {
      tokenize: (text) => text.split(" "),
      processTerm: (word) => word,
      boost: BOOST,
      boostTerm: (word) => weights.get(word),
      prefix: (word) => word === typed.at(-1) && word.length > 3, // the last word may be unfinished
      weights: { prefix: 0.3, fuzzy: 0.2 },
      boostDocument: (id) => standing(sections[id]),
    });
    const name = question.trim();
    const isCalled = ({ name: own = "", anchor }) => own === name || own.endsWith(`.${name}`) || anchor === name;
    // A heading that has the words of the question, and no others, is its answer.
    const match = ({ heading, name = "" }) => {
      const words = stems(heading ?? name);
      return words.filter((word) => typed.includes(word)).length ** 2 / Math.max(words.length * typed.length, 1);
    };
    const found = results
      .map(({ id, score, terms }) => ({ ...sections[id], score: score * (1 + MATCH * match(sections[id])), words: new Set(terms) }))
      .sort((one, other) => other.score - one.score);
    const first = found.filter(isCalled).sort((one, other) => (one.name ?? one.anchor).length - (other.name ?? other.anchor).length);
    const pages = new Map();
    for (const section of [...first, ...found]) if (!pages.has(section.page)) pages.set(section.page, section);
    return [...pages.values()];
  };

  // The sentences of a text around the one that says most of what is asked, with what they have of it marked.
  const passage = ({ text = "", words }) => {
    const marked = (piece) => split(piece).some((word) => words.has(index.stem(word)));
    const sentences = text.split(/(?<=[.!?:;])\s+/);
    const told = sentences.map((sentence) => index.stems(sentence).filter((word) => words.has(word)).length);
    let from = told.indexOf(Math.max(...told));
    let to = from + 1;
    const length = () => sentences.slice(from, to).join(" ").length;
    while (to < sentences.length && length() < PASSAGE) to += 1;
    while (from > 0 && length() + sentences[from - 1].length < PASSAGE) from -= 1;
    let shown = sentences.slice(from, to).join(" ");
    let before = from > 0;
    const far = [...shown.matchAll(/[\p{L}\p{N}_]+/gu)].find(([word]) => marked(word))?.index ?? 0;
    if (far > PASSAGE / 2) [shown, before] = [shown.slice(shown.indexOf(" ", far - PASSAGE / 4)), true];
    const after = shown.length > PASSAGE || to < sentences.length;
    if (shown.length > PASSAGE) shown = shown.slice(0, shown.lastIndexOf(" ", PASSAGE));
    const pieces = shown.split(/([\p{L}\p{N}_]+)/u).map((piece) => (marked(piece) ? element("mark", {}, piece) : piece));
    return [before ? "… " : "", ...pieces, after ? " …" : ""];
  };

  const element = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  const row = (section) => {
    const { page, title, anchor, heading, name, kind, above } = section;
    const href = `${document.documentElement.dataset.content_root}${page}.html${anchor && "#"}${anchor}`;
    const where = name ? (kind === "option" ? title : kind) : [anchor && title, above].filter(Boolean).join(" › ");
    const called = name ? (kind === "option" ? name : anchor) : heading;
    return element("li", {}, element("a", { href }, called), where && element("p", { className: "where" }, where),
      element("p", { className: "context" }, ...passage(section)));
  };

  let loading; // the script with all sections, which is for those who search
  const load = () =>
    (loading ??= new Promise((resolve, reject) => {
      const src = `${document.documentElement.dataset.content_root}_static/searched.js`;
      document.head.append(element("script", { src, onload: resolve, onerror: reject }));
    }).then(() => (index ??= made())));

  const show = (question, results, status, list) => {
    const found = question.trim() ? find(question) : [];
    const count = found.length > SHOWN ? `The first ${SHOWN} of ${found.length} pages` : `Pages: ${found.length}`;
    results.classList.toggle("empty", !question.trim());
    status.textContent = question.trim() ? (found.length ? count : "Nothing has these words.") : "";
    list.replaceChildren(...found.slice(0, SHOWN).map(row));
  };

  const begin = () => {
    const dialog = document.getElementById("pst-search-dialog");
    const page = document.querySelector(".bd-search-container"); // of the search page
    const input = (page ?? dialog)?.querySelector("input[name=q]");
    if (!input) return;
    const results = document.getElementById("search-results") ?? element("section", { id: "search-results", className: "empty" });
    if (!page) dialog.append(results);
    results.role = "region";
    results.ariaLabel = "Results";
    const status = element("p", { className: "search-summary", role: "status" });
    const list = element("ul", { className: "search" });
    results.append(status, list);

    const failed = () => {
      results.classList.remove("empty");
      status.textContent = "What is searched cannot be loaded: _static/searched.js.";
    };
    let waiting;
    const ask = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => load().then(() => show(input.value, results, status, list), failed), 120);
      if (page) history.replaceState(null, "", `?${new URLSearchParams({ q: input.value })}`);
    };
    input.addEventListener("focus", () => load().catch(failed), { once: true });
    input.addEventListener("input", ask);
    (page ?? dialog).addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const stops = [input, ...list.querySelectorAll("a")];
      const next = stops[stops.indexOf(document.activeElement) + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
    if (page) {
      input.value = new URLSearchParams(location.search).get("q") ?? "";
      if (input.value) ask();
      else show("", results, status, list);
    }
  };

  return { find, begin };
})();
document.addEventListener("DOMContentLoaded", Search.begin);
