// Asks the search of a built site, without a browser: node ask.js FOLDER "a question" ... prints a line of JSON for each,
// [[page, heading or name, anchor, score], ...], best first.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, ...questions] = process.argv.slice(2);
const page = { document: { addEventListener: () => {} } };
page.window = page;
vm.createContext(page);
for (const file of ["searched.js", "search.js"])
  vm.runInContext(fs.readFileSync(path.join(folder, "_static", file), "utf8"), page, { filename: file });
for (const question of questions) {
  page.question = question;
  const found = vm.runInContext("Search.find(question)", page);
  console.log(JSON.stringify(found.map(({ page, heading, name, anchor, score }) => [page, name ?? heading, anchor && `#${anchor}`, score])));
}
