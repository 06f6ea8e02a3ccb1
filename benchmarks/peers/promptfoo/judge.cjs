// The four axes in JavaScript, line for line what tutor_axes.py says; checked against it in every run.
const WEIGHTS = { correctness: 60, spanish_gloss: 25, schema: 10, conciseness: 5 }; // hundredths
const FIELDS = ["correction", "spanish_gloss", "explanation"];
const MAX_WORDS = 30;
const FENCED = /```[^\n`{]*(\{.*?)```/gs;

function object(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function read(output) {
  const bare = object(output);
  if (bare) return [bare, true];
  const fenced = [...output.matchAll(FENCED)].map((match) => object(match[1])).filter(Boolean);
  return [fenced.length === 1 ? fenced[0] : {}, false];
}

function normal(text) {
  const lowered = text.trim().toLowerCase();
  return lowered.endsWith(".") ? lowered.slice(0, -1) : lowered;
}

function containsAll(text, entries) {
  const got = normal(text);
  return Number(entries.every((entry) => got.includes(normal(entry))));
}

function judged(output, expected, gloss) {
  const [found, bare] = read(output);
  const text = output.normalize("NFC");
  const values = FIELDS.map((name) => found[name]);
  const [correction, translation, explanation] = values.map((value) =>
    typeof value === "string" ? value.normalize("NFC") : text,
  );
  const conforms = Object.keys(found).length === FIELDS.length && values.every((v) => typeof v === "string");
  return {
    correctness: containsAll(correction, expected),
    spanish_gloss: containsAll(translation, gloss),
    schema: Number(bare && conforms),
    conciseness: Number(explanation.split(/\s+/).filter(Boolean).length <= MAX_WORDS),
  };
}

module.exports = (output, { test }) => {
  const cells = judged(output, test.metadata.expected, test.metadata.gloss);
  const total = Object.entries(WEIGHTS).reduce((sum, [name, weight]) => sum + weight * cells[name], 0);
  return { pass: true, score: total / 100, reason: "", namedScores: cells };
};
