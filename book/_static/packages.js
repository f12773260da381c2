// A pasted list of packages: which known faults these releases have. The doctor judges in the same
// way, and a test compares the two. BOOK.doctor has its table, with versions as numbers.
const WORST = ["affected", "at risk", "read, not run", "cannot tell", "not affected"];
const [AFFECTED, AT_RISK, READ, CANNOT_TELL, NOT_AFFECTED] = WORST;

// A line of `pip freeze`, and one of `pip list`, `uv pip list` or `conda list`.
const FROZEN = /^\s*([A-Za-z0-9][\w.-]*)\s*(?:==\s*([\w.!+-]+)|@ +\S+|(?=\[))/;
const LISTED = /^\s*([A-Za-z0-9][\w.-]*)\s+v?(\d[\w.!+-]*)(?:\s+\S+){0,3}\s*$/;
const AROUND =
  /^\s*(?:#|-e |-{3,}|(?:package|name)\s+version|using python|warning:|\[notice\]|$)/i;
const MOSTLY = 0.8; // of the lines that say something

// The packages that a text lists, {name: version}; null for a text that is something else.
function listed(text) {
  const plain = text.replace(/\x1b\[[\d;]*m/g, "");
  const lines = plain.split(/\r?\n/).filter(line => !AROUND.test(line));
  const found = {};
  let count = 0;
  for (const line of lines) {
    const [, name, version] = FROZEN.exec(line) ?? LISTED.exec(line) ?? [];
    if (!name) continue;
    count += 1;
    if (version) found[name.toLowerCase().replace(/[-_.]+/g, "-")] = version;
  }
  return count && count >= MOSTLY * lines.length ? found : null;
}

// Those of the book's libraries among them; null where there are none.
function packagesOf(text) {
  const known = Object.entries(listed(text) ?? {}).filter(([name]) => partOf(name));
  return known.length ? Object.fromEntries(known) : null;
}

let watched; // patterns of the parts, made once

function partOf(name) {
  watched ??= Object.entries(BOOK.doctor.watched).map(([part, names]) => [
    part,
    new RegExp(`^(?:${names})$`),
  ]);
  return watched.find(([, names]) => names.test(name))?.[0];
}

// The numbers of a version: "0.59.0rc1" gives [0, 59, 0, 0]; null for others.
function release(version) {
  const found = /^(\d{1,9}(?:\.\d{1,9})+)(?:\.?[^0-9.].*)?$/.exec(version);
  return found && `${found[1]}.0.0`.split(".").slice(0, 4).map(Number);
}

function below(one, other) {
  const place = one.findIndex((number, n) => number !== other[n]);
  return place >= 0 && one[place] < other[place];
}

// Labels and versions of each part that a list has, {part: [[label, version], ...]}.
function partsOf(packages) {
  const { builtIn, withoutCode } = BOOK.doctor;
  const parts = {};
  for (const [name, version] of Object.entries(packages)) {
    const part = partOf(name);
    if (part && !withoutCode.some(one => one[0] === name && one[1] === version))
      (parts[part] ??= []).push([name, version]);
  }
  if (parts.numba && !parts["numba-cuda"])
    parts[builtIn] = parts.numba.map(([, version]) => [builtIn, version]);
  return parts;
}

// The status of one release in a range of them.
function judgeOne(range, version) {
  const number = release(version);
  const older = range.oldest && number && below(number, range.oldest);
  const newer = range.newest && number && below(range.newest, number);
  const mended = range.fixed && number && !below(number, range.fixed);
  if (range.read) return number && !older && !newer && !mended ? READ : NOT_AFFECTED;
  if (!number) return CANNOT_TELL;
  if (mended || (range.since && below(number, range.since))) return NOT_AFFECTED;
  if (older || newer) return CANNOT_TELL;
  return range.everywhere ? AT_RISK : AFFECTED;
}

// The status of what is installed under one name or several; where they disagree, none.
function judgeAll(range, installed) {
  const judged = new Set(installed.map(([, version]) => judgeOne(range, version)));
  return judged.size === 1 ? [...judged][0] : CANNOT_TELL;
}

const worst = all => WORST.find(status => all.includes(status));

// The status of a fault in an environment.
function examine(fault, parts) {
  const judged = fault.ranges
    .filter(range => parts[range.part])
    .map(range => judgeAll(range, parts[range.part]));
  if (!judged.length) return NOT_AFFECTED;
  const status = worst(judged);
  if (status === NOT_AFFECTED || !fault.beside) return status;
  if (!parts[fault.beside.part]) return CANNOT_TELL;
  const beside = judgeAll(fault.beside, parts[fault.beside.part]);
  return beside === AFFECTED ? status : beside;
}

// Each fault with its status, {name: status}. Packages that do not fit together are the doctor's.
const diagnose = packages => {
  const parts = partsOf(packages);
  return new Map(BOOK.doctor.cases.map(fault => [fault, examine(fault, parts)]));
};

// The known releases of a package, or of its like under another name, the newest first.
const releasesOf = name =>
  BOOK.doctor.releases[name] ??
  Object.entries(BOOK.doctor.releases).find(([other]) => partOf(other) === partOf(name))?.[1] ??
  [];

// Of the known releases that are not older than a package, the newest of those with the fewest of
// some faults for certain: [release, how many are left]; undefined where none has fewer.
function better(packages, name, faults) {
  const left = version => {
    const parts = partsOf({ ...packages, [name]: version });
    return faults.filter(fault => examine(fault, parts) === AFFECTED).length;
  };
  const now = release(packages[name]);
  const before = left(packages[name]);
  return releasesOf(name)
    .filter(version => now && !below(release(version), now))
    .map(version => [version, left(version)])
    .filter(([, count]) => count < before)
    .reduce((best, one) => (best && best[1] <= one[1] ? best : one), undefined);
}

// What other packages are there for, and must stay as it is.
const KEPT = /^(?:torch|torchvision|jax|tensorflow|spacy|c(?:udf|uml)-cu1[23])$/;

// One command for some certain faults: {command, takes, keeps, left}, where `takes` are the
// requirements, `keeps` what must stay as it is, and `left` counts the faults that stay. It names
// packages as the list does, so that it brings no second CuPy, and has no extras, since the CUDA
// packages are there. null where no release is better.
function cure(text, certain) {
  const all = listed(text), packages = packagesOf(text);
  const after = { ...packages };
  for (const name of Object.keys(packages)) {
    const [take] = better(after, name, certain) ?? [];
    if (take) after[name] = take;
  }
  const takes = Object.keys(packages)
    .filter(name => after[name] !== packages[name])
    .map(name => `${name}==${after[name]}`);
  const newNumpy = !below(release(packages.numpy ?? "0.0") ?? [0], [2, 5, 0, 0]);
  if (packages["numba-cuda"] && (takes.length || newNumpy)) {
    takes.push("numpy<2.5");
    after.numpy = "2.4";
  }
  if (!takes.length) return null;
  const kept = Object.keys(all).filter(name => KEPT.test(name));
  const keeps = kept.map(name => `${name}==${all[name]}`);
  const parts = partsOf(after);
  const left = certain.filter(fault => examine(fault, parts) === AFFECTED).length;
  const conda = /^# +Name +Version +Build +Channel/m.test(text);
  const start = conda ? "conda install -c conda-forge" : "pip install";
  const quoted = [...takes, ...keeps].map(one => `"${conda ? one.replace("==", "=") : one}"`);
  return { command: `${start} ${quoted.join(" ")}`, takes, keeps, left, conda };
}

// The packages that are newer than all releases that the book knows.
const newerThanKnown = packages =>
  Object.entries(packages).filter(([name, version]) => {
    const [newest] = partOf(name) ? releasesOf(name) : [];
    return newest && release(version) && below(release(newest), release(version));
  });

// nvJitLink where a list has it from an earlier CUDA 12 than other CUDA packages: [its version, the
// name and version of the newest]. That is case 54, which no single release has.
function olderLink(text) {
  const all = listed(text) ?? {};
  const link = all["nvidia-nvjitlink-cu12"];
  const minor = version => Number(/^12\.(\d+)\./.exec(version)?.[1] ?? -1);
  const [newest] = ["nvidia-cuda-runtime-cu12", "nvidia-cuda-nvrtc-cu12"]
    .filter(name => all[name])
    .sort((one, other) => minor(all[other]) - minor(all[one]));
  return link && newest && minor(link) < minor(all[newest]) ? [link, newest, all[newest]] : null;
}
