// Prints, as JSON, the first three pages that the search of a built site gives for each word:
// node search.js SITE < words.json
const fs = require("fs"), path = require("path"), vm = require("vm");
const site = process.argv[2];
const words = JSON.parse(fs.readFileSync(0, "utf-8"));
const node = { lastChild: null, innerText: "" };
const context = vm.createContext({
  window: { location: { search: "" } },
  document: { getElementById: () => node },
  localStorage: { setItem: () => {} },
  SPHINX_HIGHLIGHT_ENABLED: false,
  DOCUMENTATION_OPTIONS: {},
  _ready: () => {},
  URLSearchParams,
  console,
  _: (text) => text,
});
const load = (...names) => {
  for (const name of names)
    vm.runInContext(fs.readFileSync(path.join(site, name), "utf-8"), context, name);
};
load("_static/searchtools.js", "_static/language_data.js", "searchindex.js");
context.Stemmer = context.window.Stemmer;
const found = {};
for (const word of words) {
  context.window.location.search = "?q=" + encodeURIComponent(word);
  context.asked = word;
  const results = vm.runInContext("Search._performSearch(...Search._parseQuery(asked))", context);
  found[word] = results.slice(-3).reverse().map((result) => result[0]);
}
console.log(JSON.stringify(found));
