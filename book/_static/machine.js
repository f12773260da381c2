// What a paste says of the machine that it comes from. No page is touched here.

// Models of GPUs and their compute capability.
const MODELS = [
  [/\bK80\b/i, 3.7],
  [/\b(?:Tesla M\d0|GTX 9\d0|M60)\b/i, 5.2],
  [/\bP100\b/i, 6.0],
  [/\b(?:GTX 10\d0|TITAN Xp?|Tesla P40?|Quadro P\d000)\b/i, 6.1],
  [/\b(?:V100|TITAN V)\b/i, 7.0],
  [/\b(?:Tesla T4|RTX 20\d0|GTX 16\d0|Quadro RTX|TITAN RTX)\b/i, 7.5],
  [/\bA(?:100|30)\b/i, 8.0],
  [/\b(?:RTX 30\d0|RTX A\d000|A10G?|A40)\b/i, 8.6],
  [/\b(?:RTX 40\d0|L40S?|L4|RTX \d000 Ada)\b/i, 8.9],
  [/\b(?:G?H[12]00)\b/i, 9.0],
  [/\b(?:G?B[23]00)\b/i, 10.0],
  [/\b(?:RTX 50\d0|RTX PRO \d000)\b/i, 12.0],
];
const CAPABILITY = new RegExp(
  String.raw`(?:capability|\bcc)\W{1,3}(\d{1,2})\.(\d)\b|\b(?:sm|compute)_(\d{1,2})(\d)a?\b`,
  "i",
);
const NAMED = new RegExp(
  String.raw`\b(numba(?:-cuda(?:-mlir)?)?|cupy(?:-cuda1\dx)?|numpy|nanobind|` +
    String.raw`cuda-(?:core|bindings))\b[ =:v]{1,4}(\d+(?:\.\d+)+)`,
  "gi",
);

// The compute capability that a paste shows, by number or by the model of a GPU, with the words
// that say so; undefined where it shows none, or several that differ.
function capabilityOf(paste) {
  const found = MODELS.flatMap(([model, capability]) =>
    (model.exec(paste.text) ?? []).map(words => [capability, words]),
  );
  if (!found.length) {
    const [words, major, minor, tens, unit] = CAPABILITY.exec(paste.text) ?? [];
    if (words) found.push([Number(`${major ?? tens}.${minor ?? unit}`), words]);
  }
  return new Set(found.map(([capability]) => capability)).size === 1 ? found[0] : undefined;
}

// Whether a compute capability lies in a range such as "<7.5" or ">=10.0".
const within = (capability, range) =>
  range.startsWith("<")
    ? capability < Number(range.slice(1))
    : capability >= Number(range.slice(2));

// The releases that a paste names, {package: version}.
const releasesIn = paste =>
  Object.fromEntries(
    [...paste.text.matchAll(NAMED)].map(([, name, version]) => [name.toLowerCase(), version]),
  );

// The faults of a case that a paste's GPU can have; all where it shows none.
function possible(one, paste) {
  const [capability] = capabilityOf(paste) ?? [];
  const left = Object.entries(one.faults).filter(
    ([, fault]) => !fault.capability || !capability || within(capability, fault.capability),
  );
  return new Map(left.length ? left : Object.entries(one.faults));
}

// What a paste says of itself and an answer should know, in sentences.
function remarks(one, paste) {
  const said = [];
  const [capability, words] = capabilityOf(paste) ?? [];
  if (capability && Object.values(one.faults).some(fault => fault.capability))
    said.push(`Your text names ${words}, a GPU of compute capability ${capability.toFixed(1)}.`);
  const releases = releasesIn(paste);
  const judged = [...diagnose(releases)].filter(([{ name }]) => name.startsWith(`${one.number}-`));
  const status = worst(judged.map(([, found]) => found));
  const parts = judged.flatMap(([{ ranges }]) => ranges.map(({ part }) => part));
  const named = Object.entries(releases).map(pair => pair.join(" ")).join(" and ");
  if (status === AFFECTED) said.push(`Your text names ${named}, which this case affects.`);
  if (status === NOT_AFFECTED && Object.keys(releases).some(name => parts.includes(partOf(name))))
    said.push(`Your text names ${named}, which the book has not seen affected.`);
  if (/google\.colab|\/content\//.test(paste.text))
    said.push("On Colab, restart the session after you install something.");
  if (/[a-z]:\/users\/|\.dll\b/.test(paste.shown))
    said.push("The book ran its cases on Linux. On Windows, paths and names of libraries differ.");
  return said;
}
