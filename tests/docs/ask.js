// Asks the search of a built site, without a browser: node ask.js FOLDER "a question" ... prints a line of JSON for each,
// [[page, text, anchor, score], ...], best first.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, ...questions] = process.argv.slice(2);
const page = {
  document: { getElementById: () => null },
  location: { search: "" },
  localStorage: { setItem: () => {} },
  console,
  URLSearchParams,
  SPHINX_HIGHLIGHT_ENABLED: false,
  DOCUMENTATION_OPTIONS: {},
  _: (text) => text,
  _ready: () => {}, // nothing is asked at the start
};
page.window = page;
vm.createContext(page);
for (const file of ["_static/searchtools.js", "_static/language_data.js", "searchindex.js"])
  vm.runInContext(fs.readFileSync(path.join(folder, file), "utf8"), page, { filename: file });
for (const question of questions) {
  page.location.search = `?${new URLSearchParams({ q: question })}`;
  page.question = question;
  const found = vm.runInContext("Search._performSearch(...Search._parseQuery(question))", page);
  const shown = found.toReversed().map(([docname, text, anchor, , score]) => [docname, text, anchor, score]);
  console.log(JSON.stringify(shown));
}
