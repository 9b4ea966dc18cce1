import written from "../../../loop/vocabulary.json" with { type: "json" };

/*
 * The words that the loop knows a person's language by, read from `loop/vocabulary.json`, which the loop in Python reads too.
 * What each list is for stands where it is used.
 */

type Words = readonly string[];

type ActName = "delete" | "write" | "send" | "move" | "copy" | "buy" | "download" | "read";

/** How people ask for an act, how a model claims it, and what the names of tools that do it hold. */
interface ActWords {
  readonly verbs: Words;
  readonly claims: Words;
  readonly calls: Words;
}

/** One member for each list. What people say is in lower case. */
interface Vocabulary {
  readonly cues: Words;
  readonly fillers: Words;
  readonly readingOn: Words;
  readonly conditions: Words;
  readonly figureReferences: Words;
  readonly fileReferences: Words;
  readonly commonTerms: Words;
  readonly acts: Readonly<Record<ActName, ActWords>>;
  readonly claimHelpers: Words;
  readonly claimAdverbs: Words;
  readonly claimSubjects: Words;
  readonly claimOpenings: Words;
  readonly claimPronouns: Words;
  readonly completions: Words;
  readonly negations: Words;
  readonly modals: Words;
  readonly placeQuestions: Words;
  readonly questionWords: Words;
  readonly askingWords: Words;
  readonly explainingVerbs: Words;
  readonly searchPhrases: Words;
  readonly openingVerbs: Words;
  readonly documentNouns: Words;
  readonly noFolders: Words;
  readonly bareFiles: Words;
  readonly meantBy: Words;
  readonly helpers: Words;
  readonly describedNouns: Words;
  readonly describedBy: Words;
  readonly contentVerbs: Words;
  readonly aboutWords: Words;
  readonly describedEnds: Words;
  readonly articles: Words;
  readonly picks: Readonly<Record<"only" | "newest" | "oldest" | "first" | "last" | "largest" | "smallest", Words>>;
  readonly pickedNouns: Words;
  readonly kindFolders: Readonly<Record<string, Words>>;
  readonly figures: Readonly<Record<"sum" | "count" | "largest" | "smallest" | "average", Words>>;
  readonly figureNouns: Words;
  readonly countedNouns: Readonly<Record<"line" | "row" | "entry" | "file" | "folder", Words>>;
  readonly totalLabels: Words;
  readonly identifiers: Words;
  readonly units: Words;
  readonly sameWords: Readonly<Record<"load" | "memory" | "disk" | "up", Words>>;
  readonly newestWords: Words;
  readonly lightWords: Words;
  readonly wholeWords: Words;
  readonly sameThings: readonly Words[];
  readonly weakWords: Words;
  readonly owners: Words;
  readonly speakers: Words;
  readonly askingPhrases: Words;
  readonly yesNoWords: Words;
  readonly classifyingWords: Words;
  readonly knownWords: Words;
  readonly choosingWords: Words;
  readonly vagueWords: Words;
  readonly adviceModals: Words;
  readonly generalLinks: Words;
  readonly leadingPrepositions: Words;
  readonly measures: Words;
  readonly pastHelpers: Words;
  readonly planQuestions: Words;
  readonly turnedAway: Words;
  readonly questionOpeners: Words;
  readonly linkWords: Words;
  readonly phraseEnds: Words;
  readonly passingWords: Words;
  readonly participles: Words;
  readonly attributes: Words;
  readonly superlatives: Words;
  readonly worldNouns: Words;
  readonly worldVerbs: Words;
  readonly unmarked: Readonly<Record<string, string>>;
  readonly oftenTyped: Words;
  readonly noSlips: Words;
  readonly dealings: Words;
  readonly comparingWords: Words;
  readonly beforeFigures: Words;
  readonly namedBy: Words;
  readonly viewingVerbs: Words;
  readonly namedPapers: Words;
  readonly holdingVerbs: Words;
  readonly places: Words;
  readonly pointingWords: Words;
  readonly folderNouns: Words;
  readonly insideWords: Words;
  readonly placingWords: Words;
  readonly namingWords: Words;
  readonly removingVerbs: Words;
  readonly searchVerbs: Words;
  readonly meaningWords: Words;
  readonly pointers: Words;
  readonly wordsAfterIt: Words;
  readonly slotNouns: Readonly<Record<"path" | "url" | "query" | "id", Words>>;
  readonly urlArguments: Words;
  readonly pathArguments: Words;
  readonly queryArguments: Words;
  readonly dayArguments: Words;
  readonly timeArguments: Words;
  readonly amountArguments: Words;
  readonly aheadArguments: Words;
  readonly limitArguments: Words;
  readonly limitingWords: Words;
  readonly untellingWords: Words;
  readonly weekdays: Words;
  readonly months: readonly Words[];
  readonly numberWords: Readonly<Record<string, number>>;
  readonly nearDays: Readonly<Record<string, number>>;
  readonly currencySigns: Readonly<Record<string, string>>;
  readonly currencyWords: Readonly<Record<string, string>>;
  readonly currencyCodes: Words;
  readonly currencyStems: Words;
  readonly templateBrackets: Words;
  readonly templateTags: Words;
  readonly schemaKeywords: Words;
  readonly pluralArticles: Words;
  readonly describedLeads: Words;
  readonly movingLinks: Words;
  readonly keptLeads: Words;
  readonly oneLinks: Words;
  readonly keepingVerbs: Words;
  readonly addingVerbs: Words;
  readonly discardingVerbs: Words;
  readonly movingVerbs: Words;
  readonly puttingVerbs: Words;
  readonly pointedFiles: Words;
  readonly keepingLinks: Words;
  readonly leaningWords: Words;
  readonly keptNouns: Words;
  readonly wholeNouns: Words;
  readonly emptyAsks: Words;
  readonly findingOut: Words;
  readonly endingAsks: Words;
  readonly endingTails: Words;
  readonly everywhere: Words;
  readonly endingLinks: Words;
  readonly fileEndings: Words;
  readonly homelyNouns: Words;
  readonly pictureKinds: Words;
  readonly pictureEndings: Words;
  readonly lookingVerbs: Words;
  readonly listingPhrases: Words;
  readonly plainListingWords: Words;
  readonly placelessWords: Words;
  readonly standingWords: Words;
  readonly spokenNames: Words;
  readonly linePlaces: Readonly<Record<string, number>>;
  readonly exceptingWords: Words;
  readonly contractedVerbs: Words;
  readonly negatedWords: Readonly<Record<string, string>>;
  readonly passedOver: Words;
  readonly yesMarks: Words;
  readonly noMarks: Words;
  readonly doneWords: Words;
  readonly nounLeads: Words;
  readonly timePicks: Readonly<Record<"next" | "upcoming" | "last", Words>>;
  readonly unpickedNouns: Words;
  readonly eventNouns: Words;
  readonly datedPapers: Words;
  readonly datedBy: Words;
  readonly givenNouns: Words;
  readonly orderNegations: Words;
  readonly unnegated: Words;
  readonly sparingWords: Words;
  readonly placingVerbs: Words;
  readonly additiveVerbs: Words;
  readonly endPlaces: Words;
  readonly partVerbs: Words;
  readonly keepingHelpers: Words;
  readonly stateWords: Words;
  readonly settingVerbs: Words;
  readonly keptThings: Words;
  readonly worldNames: Words;
  readonly ownAttributes: Words;
  readonly namedLinks: Words;
  readonly untoldAdjectives: Words;
  readonly further: Words;
  readonly comparedBy: Readonly<Record<"Less" | "More" | "Longer" | "Shorter" | "Newer" | "Older", Words>>;
  readonly comparingVerbs: Words;
  readonly servedNouns: Words;
  readonly servingVerbs: Words;
  readonly settledWords: Words;
  readonly reckoningLeads: Words;
  readonly reckoningSigns: Readonly<Record<string, string>>;
  readonly settingPlaces: Words;
  readonly rewritingVerbs: Words;
  readonly shownFiles: Words;
  readonly groupArticles: Words;
  readonly enteringVerbs: Words;
  readonly entryLinks: Words;
  readonly listNouns: Words;
  readonly spokenVerbs: Words;
  readonly tellingLinks: Words;
  readonly summingVerbs: Words;
  readonly rankingVerbs: Words;
  readonly switchWords: Readonly<Record<string, string>>;
  readonly tickingVerbs: Words;
  readonly tickedStates: Words;
  readonly strikingVerbs: Words;
  readonly entryLists: Words;
  readonly enablingVerbs: Words;
  readonly disablingVerbs: Words;
  readonly switchNouns: Words;
  readonly switchKeys: Words;
  readonly agedPicks: Readonly<Record<string, string>>;
  readonly unnamedFiles: Words;
  readonly clearingVerbs: Words;
  readonly filesWhole: Words;
  readonly copyingVerbs: Words;
  readonly shownLists: Words;
  readonly copyLinks: Words;
  readonly copyNamings: Words;
  readonly folderLinks: Words;
  readonly untoldEntries: Words;
  readonly entryPlaces: Words;
  readonly noTargets: Words;
  readonly judgedNouns: Words;
  readonly livePhrases: Words;
}

/** Does not compile where the file misses a list, nor where it has one that is not known here. */
export const vocabulary: Vocabulary & Readonly<Record<Exclude<keyof typeof written, keyof Vocabulary>, never>> =
  written;

/** The alternatives of a regular expression, longer ones first, so that none hides another that begins with it. */
export function anyOf(words: Words): string {
  return words
    .toSorted((one, other) => other.length - one.length)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("|");
}
