// Which faults a text in plain words describes. No page is touched here.
// A fault is indexed by its words: what is seen, the title of its case, what people call it
// (`heard`), its messages and its cure. Each field has a weight of its own.

const FIELDS = { heard: 1, see: 1, title: 0.9, said: 0.6, act: 0.4 };
const BESIDE = 0.4, NAME = 0.6;
const HALF = 0.7;
const LIBRARY = new Set(['cupy', 'cupyx', 'numba', 'numpy', 'scipy', 'cuda-python()']);
const UNKNOWN = 4;     // faults that a word of no fault counts for
const WHOLE = { share: 0.5, score: 4, clear: 0.18 };    // of a text: its share of the weight, its weight
const PART = { share: 0.6, score: 7, clear: 0.35 };     // of a sentence of it
const UNSAID = { share: 0.7, score: 3.4 };              // where nothing says that it is about a GPU
const STRANGE = { share: 0.7, score: 6 };               // where it is about another library
const UNLIKE = 0.7;    // for a case about other libraries than the text
const FAINT = 2;
const CLEAR = 8.5;     // what words must weigh that are less than half of it
const AHEAD = 1.15;    // how far the first must be ahead then
const LONGEST = 400;   // words of a sentence, and sentences of a text, that are looked at

const stem = word => word.length > 3 ? word.replace(/(?:ings?|ed|ers?|es|s|e)$/, "") : word;
// Other ways to say the same.
const SAME = [
  ["hang", /\b(?:never|n't|not|no) (?:ends?|returns?|stops?|finish(?:es)?|terminates?)\b/g],
  ["hang", /\b(?:never|n't|not) comes? back\b|\b(?:hang(?:s|ing)?|hung|stuck|froze|frozen)\b/g],
  ["hang", /\b(?:freez\w+|deadlock\w*|forever|infinite)\b|卡住|挂起|死锁|死循环/g],
  ["wrong", /\b(?:wrong|incorrect|inconsistent|other|different|bad|false|unexpected)(?= (?:\w+ )?(?:numbers?|results?|values?|outputs?|answers?|sums?))/g],
  ["wrong", /(?<=(?:numbers?|results?|values?|outputs?|answers?|sums?) (?:is|are|comes? out|looks?) )(?:off|different|incorrect|bad)\b/g],
  ["wrong", /\b(?:incorrect(?:ly)?|wrongly|corrupt\w*|mismatch\w*)\b|错误结果|结果错误|不正确/g],
  ["slow", /\b(?:slow(?:er|ly|ness)?|takes (?:\w+ ){0,4}long(?:er)?|bottleneck\w*)\b|很慢|变慢/g],
  ["slow", /\b(?:poor|bad|low) performance\b|\bperformance (?:issue|problem|regression)s?\b/g],
  ["crash", /\b(?:crash\w*|crush\w*|segfault\w*|dies|killed)\b|\bsegmentation faults?\b|崩溃|段错误/g],
  ["sum", /\b(?:reduc(?:e|es|ing|tions?)|summ?(?:s|ed|ing))\b/g],
  ["barrier", /_*sync_?threads\w*/g],
  [" raw kernel ", /raw[_.]?kernel/g],
  ["loop", /\bwhile\b/g],
  ["assert", /\bassertions?\b/g],
  ["device", /\bgpus?\b/g],
  ["uint8", /\bu?int(?:8|16)\b/g],
  ["ignored", /\b(?:no effect|does nothing|do nothing|not respect\w*|unused|no-op)\b|不起作用|无效/g],
  ["edited", /\b(?:chang(?:e|ed|ing)|edit(?:s|ing)?|modif(?:y|ied|ying))(?= (?:\w+ ){0,3}(?:helper|header|function|source|module|file)s?\b)/g],
  ["modulo", /\b(?:modulus|remainder)\b|\bmod\b/g],
  ["float64", /\b(?:double[- ]precision|doubles?)\b/g],
  ["float32", /\b(?:single[- ]precision)\b/g],
  ["out of bounds", /\bout[- ]of[- ]range\b|越界/g],
  ["last digits", /\b(?:non-?determinis\w+|not reproducible|irreproducib\w+)\b/g],
  ["skip", /\b(?:leaves? out|left out|omit\w*|miss(?:es|ed))\b/g],
  ["overwrite", /\b(?:overwrit\w+|clobber\w*|garbl\w+|race conditions?|data races?)\b|覆盖/g],
  ["import", /\b(?:cannot|can't|could not|unable to|fail(?:s|ed)? to) import\b|无法导入/g],
  ["zero", /\b0(?:\.0)?\b(?!\.)/g],
  ["kernel", /内核|核函数/g], ["cache", /缓存/g], ["driver", /驱动/g], ["compile", /编译/g],
];
// Words that say nothing here.
const IDLE = new Set(`about after again all along already also always and any anyone are around because been before being
  both but call called calling can cannot case code come comes could cuda did does doesn doing don done during each either else
  error even ever every example exactly expected fail fails few find first fix fixed following for found from
  function further get gets getting give given gives got had has have having help her here how however instead into
  isn issue its itself just know latest let like line look looks lot made make makes many may maybe might mine more
  most much must need needs new not now off one ones only onto other our out over own please possible problem
  program provide python really reproduce result results return returned returns run running runs same say says see
  seem seems seen set several should show shows since some something still such sure take takes than thank thanks
  that the their them then there these they thing things think this those though three through too tried try
  trying two under until use used user uses using very via want was way well were what when where whether which
  while who why will with within without won work working works would yet you your pass passed passing
  silently currently become becomes became turn turns test tests bug report issues pull request add adds added adding update updated updates change changes changed
  support supported version versions install installed`.split(/\s+/));
// Frequent words: half the weight. (In a tenth of a thousandth of the commits of CuPy, Numba, numba-cuda or more.)
const COMMON = new Set(`remove main type check build array skip not fix handle name test function   dtype commit import wheel comment module avoid list file replace move include non implementation warn allow
  matrix method overload base value argument target require suggestion index default match package input source
  generate header enable reference implement long miss loop ensure specific point variable
  correct config bind class copy context close load size time exist address output object case
  guard per old cast max min cause message thread feature step block runtime script str shape dispatch failure arg drop
  mark disable self tuple order int64 int empty compute flag bit improve contain data back start debug count switch zero
  state attribute comparison prevent table operator level small sign signature help cpu true additional lower key single
  due internal create available init part option kernel device driver number work
  run program first last second access launch node print local global model
  training train image`.split(/\s+/).map(word => stem(word)));
// What only programs print: such a line is no description.
const SORTS = "(?:fix|docs?|ci|perf|feat(?:ure)?|chore|bug(?:fix)?|tests?|build|question|refactor|note|edit|update|ps|todo"
  + "|title|description|request|cuda|cupy|numba|nanobind|jit)";
const PRINTED = new RegExp([
  String.raw`\w(?:error|exception|warning|interrupt)s?\b`,
  String.raw`\b(?:error|fatal|warning|failed|traceback)[^\w\n]*[:(]`,
  String.raw`cuda_|_error|\bfile "|\bline \d|\.(?:pyx|so|cuh?|cpp|h|dll)\b|\.py[:", ]+\d|ignored in:|core dumped`,
  String.raw`::|\b0x[\da-f]|\w\\\w|^\W*(?!${SORTS}\b)[\w.]+ ?: |->|^\s*={3}|^\s*[\w.]+\([^()]*\)\W*$|^\s*(?:return|import|def|class|@\w|\w+ =) `,
].join("|"), "i");
const FENCE = /^\s*(?:```|~~~)[^\n]*\n[^]*?(?:^\s*(?:```|~~~)\s*$|$(?![^]))/gm;
const CHINESE = /[\u3400-\u9fff]+/g;

const pairs = text => [...text].slice(1).map((letter, n) => [...text][n] + letter);

// The words of a text that say something, without their endings, in their order; after them names
// from code as they stand, and pairs of neighbours.
function wordsOf(text) {
  let said = text.toLowerCase();
  const names = said.match(/\b[a-z]\w*(?:\.[a-z]\w*)+\b|\b[a-z]+\d*(?:[_-]\w+)+\b|\b\d+\.\d+/g) ?? [];
  for (const [word, same] of SAME) said = said.replace(same, ` ${word} `);
  const latin = (said.match(/[a-z]+(?:8|16|32|64)?(?![a-z\d])|[a-z]+/g) ?? [])
    .filter(word => word.length > 2 && !IDLE.has(word)).map(stem);
  const beside = latin.slice(1).map((word, n) => `${latin[n]} ${word}`);
  const chinese = (said.match(CHINESE) ?? []).flatMap(pairs);
  return [...latin, ...chinese, ...names.map(name => `${name}()`), ...beside];
}

const indexes = new WeakMap();

// The faults of the book, each with the weight of its words.
function indexed(book) {
  if (indexes.has(book)) return indexes.get(book);
  const faults = book.cases.flatMap(one => Object.entries(one.faults).map(([id, fault]) => {
    const said = one.messages.filter(({ fault }) => fault === id).map(({ text }) => text);
    const fields = { heard: (fault.heard ?? []).join("\n"), see: `${fault.see} ${one.kind}`,
      title: one.title, said: said.join("\n"), act: fault.do };
    const terms = new Map();
    for (const [field, weight] of Object.entries(FIELDS)) {
      for (const term of wordsOf(fields[field])) terms.set(term, Math.max(terms.get(term) ?? 0, weight));
    }
    return { case: one, fault, terms };
  }));
  const count = new Map();
  for (const { terms } of faults) for (const term of terms.keys()) count.set(term, (count.get(term) ?? 0) + 1);
  const kind = term => term.includes(" ") ? BESIDE : term.endsWith(")") ? NAME : 1;
  const weight = term => (kind(term) < 1 && !count.has(term)) ? 0 : (COMMON.has(term) || LIBRARY.has(term) ? HALF : 1) * kind(term) * Math.log(faults.length / (count.get(term) ?? UNKNOWN));
  indexes.set(book, { faults, weight });
  return indexes.get(book);
}

// The sentences of a text that somebody wrote: neither code nor what a program printed.
function sentences(text) {
  const told = text.replace(FENCE, "\n").replace(/https?:\/\/\S+/g, " ").split("\n");
  return told.filter(line => !PRINTED.test(line)).flatMap(line => line.split(/(?<=[.!?;。！？；])\s*(?=\s|[\u3400-\u9fff])/))
    .map(line => line.trim()).filter(Boolean).slice(0, LONGEST);
}

// Words that say that a text is about Python on a GPU, and names of what the book is not about.
const ABOUT = /\b(?:gpus?|cuda|kernels?|nvrtc|nvidia|ptx|cudart|pinned|h2d|d2h|dlpack|u?int(?:8|16|32|64)|float(?:16|32|64))\b|内核|核函数|显存/;
const OTHERS = new RegExp(String.raw`\b(?:(?:py)?torch|tensorflow|keras|jax|triton|pycuda|julia|cudf|xgboost|scipy
  |sklearn|pandas|polars|dpnp|opencl|opencv|rocm|tensorrt|vllm|onnx\w*|matplotlib)\b`.replace(/\s+/g, ""));

// The libraries of the book that a text names.
function namedIn(book, text) {
  const shown = text.toLowerCase();
  return Object.keys(book.libraries).filter(name => {
    const { mention } = book.libraries[name];
    return mention && new RegExp(mention).test(shown);
  });
}

// How much each fault is like some words, best first: by the weight of the words that it has too,
// less where the text names libraries and the case is about others.
function ranked(book, asked, named) {
  const { faults, weight } = indexed(book);
  const plainly = asked.filter(term => !/[ )]/.test(term));
  const all = asked.reduce((sum, term) => sum + weight(term), 0);
  return faults.map(one => {
    const both = asked.filter(term => one.terms.has(term));
    const sum = both.reduce((sum, term) => sum + weight(term) * one.terms.get(term), 0);
    const { libraries } = one.case;
    const unlike = named.length && libraries.length && !libraries.some(name => named.includes(name));
    const whole = plainly.length > 2 && plainly.every(term => one.terms.has(term));
    const score = sum * (unlike ? UNLIKE : 1);
    const plain = both.filter(term => !/[ )]/.test(term) && !LIBRARY.has(term)).length;
    return { case: one.case, fault: one.fault, size: one.terms.size, plain, whole, score, share: score / all || 0 };
  }).sort((one, other) => other.score - one.score || one.size - other.size);
}

// Those of some faults whose case stands in none before.
const once = found => found.filter((one, n) => found.findIndex(other => other.case === one.case) === n);

// The faults that a description in plain words sounds like: `[{ case, fault }]`, at most three, best
// first; none for what a program printed. Two words must be the fault's, and half of the weight
// of what was said, or so much weight that no other case comes near. The text is judged as a whole,
// then each of its sentences on its own.
function sounds(book, text) {
  const told = sentences(text);
  const shown = told.join("\n").toLowerCase();
  const named = namedIn(book, text);
  const own = named.length || ABOUT.test(shown);
  const strange = !named.length && (OTHERS.test(shown) || libraries(book, text).length > 0);
  const judge = (line, part) => {
    const found = once(ranked(book, [...new Set(wordsOf(line))].slice(0, LONGEST), named));
    const [first, second] = found;
    const needs = strange ? STRANGE : own ? part ? PART : WHOLE : UNSAID;
    const fits = one => (one.whole && own && !strange) || one.plain > 1 && one.share >= needs.share && one.score >= needs.score;
    const clear = own && !strange && first.plain > 1 && first.score >= CLEAR
      && first.share >= (part ? PART.clear : WHOLE.clear) && first.score >= AHEAD * second.score;
    return found.filter((one, n) => fits(one) || (clear && !n));
  };
  let found = judge(told.join("\n"), false);
  if (!found.length && told.length > 1) {
    found = once(told.flatMap(line => judge(line, true)).sort((one, other) => other.score - one.score));
  }
  return found.filter(one => one.score > found[0].score / 2).slice(0, 3);
}

// All faults, those that a text is most like first.
function rank(book, text) {
  const asked = [...new Set(wordsOf(text))].slice(0, LONGEST);
  return ranked(book, asked, namedIn(book, text)).map(({ fault }) => fault);
}

// The faults that come nearest to a text: a guess, where nothing fits. None if no word of it is known.
function nearest(book, text) {
  const asked = [...new Set(wordsOf(text.replace(/https?:\/\/\S+/g, " ")))].slice(0, LONGEST);
  return once(ranked(book, asked, namedIn(book, text)).filter(one => one.plain && one.score >= FAINT)).slice(0, 2);
}
