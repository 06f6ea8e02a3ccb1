// The tests: one for each recorded answer, beside what its item expects.
const fs = require("node:fs");

module.exports = () => {
  const exam = JSON.parse(fs.readFileSync(process.env.PEERS_EXAM, "utf8"));
  const items = new Map(exam.items.map((item) => [item.id, item]));
  const lines = fs.readFileSync(process.env.PEERS_ANSWERS, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const { item: id, attempt, output } = JSON.parse(line);
    const item = items.get(id);
    return {
      vars: { prompt: item.prompt },
      metadata: { item: id, attempt, expected: item.expected_contains, gloss: item.gloss_contains },
      providerOutput: output,
    };
  });
};
