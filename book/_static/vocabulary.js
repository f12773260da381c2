// The words that Find your error knows: what means the same, and what says nothing.

const stem = word => (word.length > 3 ? word.replace(/(?:ings?|ed|ers?|es|s|e)$/, "") : word);

// Other ways to say the same.
const QUANTITY = "(?:numbers?|results?|values?|outputs?|answers?|sums?)";
const WRONG = "wrong|incorrect|inconsistent|other|different|bad|false|unexpected";
const PART_OF_CODE = "(?:helper|header|function|source|module|file)s?";
const SAME = [
  ["hang", /\b(?:never|n't|not|no) (?:ends?|returns?|stops?|finish(?:es)?|terminates?)\b/g],
  ["hang", /\b(?:never|n't|not) comes? back\b|\b(?:hang(?:s|ing)?|hung|stuck|froze|frozen)\b/g],
  ["hang", /\b(?:freez\w+|deadlock\w*|forever|infinite)\b|卡住|挂起|死锁|死循环/g],
  ["wrong", new RegExp(String.raw`\b(?:${WRONG})(?= (?:\w+ )?${QUANTITY})`, "g")],
  [
    "wrong",
    new RegExp(
      String.raw`(?<=${QUANTITY} (?:is|are|comes? out|looks?) )(?:off|different|incorrect|bad)\b`,
      "g",
    ),
  ],
  ["wrong", /\b(?:incorrect(?:ly)?|wrongly|corrupt\w*|mismatch\w*)\b/g],
  ["wrong", /错误结果|结果错误|不正确/g],
  ["slow", /\b(?:slow(?:er|ly|ness)?|takes (?:\w+ ){0,4}long(?:er)?|bottleneck\w*)\b/g],
  ["slow", /很慢|变慢/g],
  ["slow", /\b(?:poor|bad|low) performance\b|\bperformance (?:issue|problem|regression)s?\b/g],
  [
    "crash",
    /\b(?:crash\w*|crush\w*|segfault\w*|dies|killed)\b|\bsegmentation faults?\b|崩溃|段错误/g,
  ],
  ["sum", /\b(?:reduc(?:e|es|ing|tions?)|summ?(?:s|ed|ing))\b/g],
  ["barrier", /_*sync_?threads\w*/g],
  [" raw kernel ", /raw[_.]?kernel/g],
  ["loop", /\bwhile\b/g],
  ["assert", /\bassertions?\b/g],
  ["device", /\bgpus?\b/g],
  ["uint8", /\bu?int(?:8|16)\b/g],
  [
    "ignored",
    /\b(?:no effect|does nothing|do nothing|not respect\w*|unused|no-op)\b|不起作用|无效/g,
  ],
  [
    "edited",
    new RegExp(
      String.raw`\b(?:chang(?:e|ed|ing)|edit(?:s|ing)?|modif(?:y|ied|ying))` +
        String.raw`(?= (?:\w+ ){0,3}${PART_OF_CODE}\b)`,
      "g",
    ),
  ],
  ["modulo", /\b(?:modulus|remainder)\b|\bmod\b/g],
  ["float64", /\b(?:double[- ]precision|doubles?)\b/g],
  ["float32", /\b(?:single[- ]precision)\b/g],
  ["out of bounds", /\bout[- ]of[- ]range\b|越界/g],
  ["last digits", /\b(?:non-?determinis\w+|not reproducible|irreproducib\w+)\b/g],
  ["skip", /\b(?:leaves? out|left out|omit\w*|miss(?:es|ed))\b/g],
  ["overwrite", /\b(?:overwrit\w+|clobber\w*|garbl\w+|race conditions?|data races?)\b|覆盖/g],
  ["import", /\b(?:cannot|can't|could not|unable to|fail(?:s|ed)? to) import\b|无法导入/g],
  ["zero", /\b0(?:\.0)?\b(?!\.)/g],
  ["kernel", /内核|核函数/g],
  ["cache", /缓存/g],
  ["driver", /驱动/g],
  ["compile", /编译/g],
];
// Words that say nothing here.
const IDLE = new Set(
  `about after again all along already also always and any anyone are around because been before
being both but call called calling can cannot case code come comes could cuda did does doesn doing
don done during each either else error even ever every example exactly expected fail fails few
find first fix fixed following for found from function further get gets getting give given gives
got had has have having help her here how however instead into isn issue its itself just know
latest let like line look looks lot made make makes many may maybe might mine more most much must
need needs new not now off one ones only onto other our out over own please possible problem
program provide python really reproduce result results return returned returns run running runs
same say says see seem seems seen set several should show shows since some something still such
sure take takes than thank thanks that the their them then there these they thing things think
this those though three through too tried try trying two under until use used user uses using very
via want was way well were what when where whether which while who why will with within without
won work working works would yet you your pass passed passing silently currently become becomes
became turn turns test tests bug report issues pull request add adds added adding update updated
updates change changes changed support supported version versions install installed`.split(/\s+/),
);
// Frequent words: half the weight. (In a tenth of a thousandth of the commits of CuPy, Numba,
// numba-cuda or more.)
const COMMON = new Set(
  `remove main type check build array skip not fix handle name test function dtype commit import
wheel comment module avoid list file replace move include non implementation warn allow matrix
method overload base value argument target require suggestion index default match package input
source generate header enable reference implement long miss loop ensure specific point variable
correct config bind class copy context close load size time exist address output object case guard
per old cast max min cause message thread feature step block runtime script str shape dispatch
failure arg drop mark disable self tuple order int64 int empty compute flag bit improve contain
data back start debug count switch zero state attribute comparison prevent table operator level
small sign signature help cpu true additional lower key single due internal create available init
part option kernel device driver number work run program first last second access launch node
print local global model training train image`
    .split(/\s+/)
    .map(word => stem(word)),
);
// Words that name a library, and say no more.
const LIBRARY = new Set(["cupy", "cupyx", "numba", "numpy", "scipy", "cuda-python()"]);
