// The order of search results. Sphinx takes a page for found only if it has every word, and counts a page by its
// best word; here most of the words will do, rare words count more than common ones, a section whose heading or index
// entry has them comes first, and pages that explain come before those that list.
const LISTS = /^(reference\/|benchmarks|changelog|contributing|errata|experiment\/|dependencies|genindex|gallery\/)/;

Search.performTermsSearch = (words, excluded) => {
  const { terms, titleterms, docnames, filenames, titles, alltitles, indexentries } = Search._index;
  const stemmer = new Stemmer();
  const listed = (index, word) => (Object.hasOwn(index, word) ? [index[word]].flat() : []);
  const telling = (text) => splitQuery(text.toLowerCase()).filter((word) => !stopwords.has(word));
  const stemmed = (text) => telling(text).map((word) => stemmer.stemWord(word));
  const entries = Object.entries(indexentries).map(([text, places]) => [text, places.filter(([, , main]) => main)]);
  const indexed = {};
  for (const [text, places] of entries)
    for (const word of stemmed(text)) indexed[word] = [...listed(indexed, word), ...places.map(([page]) => page)];
  const pagesWith = (word) => {
    const exact = [terms, titleterms, indexed].flatMap((index) => listed(index, word));
    if (exact.length || word.length < 3) return new Set(exact);
    const longer = [terms, titleterms].flatMap((index) =>
      Object.keys(index).filter((term) => term.includes(word)).flatMap((term) => listed(index, term)));
    return new Set(longer);
  };
  const rarity = (count) => Math.log(1 + docnames.length / (1 + count));
  const found = new Map([...words].map((word) => [word, pagesWith(word)]));
  const weight = new Map([...found].map(([word, pages]) => [word, pages.size && rarity(pages.size)]));
  const sum = (of) => [...of].reduce((total, word) => total + (weight.get(word) ?? 0), 0);
  const asked = sum(words);
  if (!asked) return [];

  const headings = new Map(); // page -> its heading or index entry that says most of what is asked: [share, text, id]
  for (const [text, places] of [...Object.entries(alltitles), ...entries]) {
    const said = new Set(stemmed(text));
    const both = sum(said);
    if (!both) continue;
    const others = [...said].filter((word) => !weight.has(word)).map((word) => rarity(listed(titleterms, word).length));
    const share = (2 * both) / (asked + both + others.reduce((total, each) => total + each / 2, 0));
    for (const [page, id] of places) if (share > (headings.get(page)?.[0] ?? 0)) headings.set(page, [share, text, id]);
  }

  const unwanted = new Set([...excluded].flatMap((word) => [...pagesWith(word)]));
  const results = [];
  for (const page of new Set([...found.values()].flatMap((pages) => [...pages]))) {
    const has = sum([...words].filter((word) => found.get(word).has(page))) / asked;
    if (has < 0.6 || unwanted.has(page)) continue;
    const [share, text, id] = headings.get(page) ?? [0];
    const section = share > 0.3 && id !== null && text !== titles[page];
    results.push([
      docnames[page],
      section ? `${titles[page]} > ${text}` : titles[page],
      section ? `#${id}` : "",
      null,
      (10 * has + 30 * share) * (LISTS.test(docnames[page]) ? 0.4 : 1),
      filenames[page],
      SearchResultKind.text,
    ]);
  }
  return results;
};

// What an index entry leads to is shown with the entry, not with the title of its page alone. Names come first.
Scorer.score = (result) => {
  const typed = new URLSearchParams(location.search).get("q").trim();
  const asked = typed.toLowerCase();
  const { indexentries, docnames } = Search._index;
  if (result[6] === SearchResultKind.index) {
    const entry = Object.keys(indexentries).find((text) => text.includes(asked)
      && indexentries[text].some(([page, id]) => docnames[page] === result[0] && result[2] === (id ? `#${id}` : "")));
    if (entry) result[1] = `${result[1]} > ${entry}`;
  }
  return result[1] === typed ? 50 : result[4]; // a name, as it is written
};
