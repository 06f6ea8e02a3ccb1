// The tests: one for each item of the exam.
const fs = require("node:fs");

module.exports = () =>
  JSON.parse(fs.readFileSync(process.env.PEERS_EXAM, "utf8")).items.map((item) => ({
    vars: { prompt: item.prompt },
    metadata: { item: item.id, expected: item.expected_contains, gloss: item.gloss_contains },
  }));
