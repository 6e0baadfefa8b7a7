//! The words of the user's request: all of them, and those that ask for something.
//!
//! "What would a force push do?", "fix the deploy script" and "don't publish it" name an action without asking for it.

mod code_objects;
mod colloquial;
mod confinement;
mod forms;
mod narration;
mod retraction;
mod vague;

use crate::names::is_path;
use crate::words::{Word, words};
use code_objects::Objects;
use colloquial::Spoken;
use forms::{is_form_of, is_no_order, parts};
use std::collections::HashSet;

/// The words of the user's request.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestWords {
    all: HashSet<String>,
    /// Words without a negation next to them.
    wanted: HashSet<String>,
    /// Words that are not part of a question, a negation, a path or a name.
    working: HashSet<String>,
    /// Those of a clause that is an order, and not narrated.
    asking: HashSet<String>,
    /// Those whose object is neither code nor a document.
    ordering: HashSet<String>,
    /// All words of clauses that are not narrated.
    addressed: HashSet<String>,
    /// Words that asked for something that was taken back.
    retracted: HashSet<String>,
    /// The first words of each text, in order.
    texts: Vec<Vec<OrderedWord>>,
    /// The number of words.
    words: usize,
    /// A part of it is a question.
    is_asking: bool,
    /// One of the texts runs a command of the client: what it asks for is in its own text.
    has_client_command: bool,
}

/// A word of a text.
#[derive(Clone, Debug)]
struct OrderedWord {
    folded: String,
    /// Whether a clause ends after it.
    ends_clause: bool,
}

impl OrderedWord {
    /// Whether it, or a part of it, is a form of one of these stems.
    fn is_any(&self, stems: &[&str]) -> bool {
        parts(&self.folded).any(|part| is_form_of(&part, stems))
    }
}

/// The most words between single quotation marks.
const MAX_QUOTED: usize = 12;

/// How many words of a text are kept in order.
const MAX_ORDERED: usize = 200;

/// The most words from one word of a clause to another that is about the same.
const NEAR: usize = 5;

/// How many words before others "add" or "write" may be to be about them.
const SHORTLY: usize = 3;

/// The part of a text that tells what it mainly asks for, in words.
pub(crate) const MAIN_POINT: usize = 16;

/// Words that begin a question or a description: what follows in the clause is not requested.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "care", "cine", "comment", "como", "cual", "describe", "dlaczego", "erklar", "erklare", "explain", "explica", "explique", "how", "how's", "hoe",
    "perche", "porque", "pourquoi", "quand", "quel", "quelle", "waarom", "warum", "wann", "welche", "welcher", "welches", "what", "what's",
    "when", "where", "whether", "which", "who", "whose", "why", "why's", "wie", "wieso",
];

/// Words that begin a question if they are the first of a clause.
#[rustfmt::skip]
const AUXILIARY: &[&str] = &[
    "is", "are", "was", "were", "does", "did", "has", "had", "am", "would", "ist", "sind", "est", "czy", "isn't", "doesn't", "aren't", "any",
    "wer", "wo", "wieviel", "wieviele", "gibt", "hat", "haben", "lauft", "quels", "quelles", "qui", "qu'est-ce", "combien", "ou", "que", "quien", "quienes",
    "cuantos", "cuantas", "cuanto", "cuales", "donde", "esta", "estan", "hay", "quanto", "quanti", "quante", "quantos", "quantas", "qual", "quais", "quale",
    "quali", "cosa", "chi", "dove", "onde", "tem", "sunt", "exista", "cate", "cati", "unde", "ce", "wat", "welk", "hoeveel", "waar", "zijn", "ile", "jaki",
    "jakie", "jaka", "ktore", "ktory", "kto", "gdzie", "jest", "co", "какие", "какой", "какая", "какое", "кто", "где", "сколько", "почему", "зачем", "что", "есть",
    "почем", "hangi", "neden", "nasil", "kac", "ne",
];

/// Parts of questions in languages without spaces between words.
const ASKING_PARTS: &[&str] = &[
    "什么",
    "哪些",
    "哪个",
    "为什么",
    "怎么",
    "多少",
    "何が",
    "どの",
    "なぜ",
    "どこ",
    "いくつ",
    "ですか",
    "ますか",
];

/// Words after which a word is a noun: "the release".
#[rustfmt::skip]
const DETERMINERS: &[&str] = &[
    "the", "a", "an", "this", "that", "these", "those", "our", "my", "your", "its", "their", "his", "her", "each", "every", "last", "next",
    "previous", "latest", "first",
];

/// Verbs that turn a noun into a request: "do the release".
#[rustfmt::skip]
const DOING: &[&str] = &[
    "do", "make", "cut", "run", "create", "trigger", "start", "perform", "finish", "prepare", "get", "execute", "apply", "implement", "follow", "go",
    "need", "want", "issue", "kick", "redo", "repeat", "retry", "rerun", "bring", "complete", "carry", "give", "use", "begin", "continue",
];

/// Words that negate the words after them, or in some languages before them.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "avoid", "bez", "can't", "cannot", "don't", "evita", "fara", "forbidden", "geen", "jamais", "kein", "keine", "keinen", "mustn't",
    "nao", "never", "nicht", "nie", "niet", "no", "non", "not", "nu", "nunca", "ohne", "pas", "sans", "sem", "senza", "shouldn't",
    "sin", "w/o", "without", "zonder",
];

/// Negations in languages without spaces between words.
const NEGATING_PARTS: &[&str] = &["不要", "不能", "别", "請勿", "请勿", "しない", "しなく", "ないで"];

/// How many words after a negation it may negate, and how many before it.
const NEGATED_AFTER: usize = 5;
const NEGATED_BEFORE: usize = 1;

/// Words that begin a clause of its own.
const JOINING: &[&str] = &[
    "and", "then", "but", "so", "und", "dann", "aber", "et", "puis", "mais", "si", "apoi", "dar", "y",
    "luego", "e", "poi", "i", "en",
];

/// Words before a state: "the list is empty".
#[rustfmt::skip]
const STATES: &[&str] = &["is", "are", "was", "were", "seems", "looks", "appears", "still", "stays", "returns", "shows", "gets", "got", "always"];

/// Words after a noun: "the restore says", "push is rejected".
#[rustfmt::skip]
const AFTER_NOUN: &[&str] = &[
    "is", "was", "are", "has", "fails", "fail", "failed", "says", "said", "throws", "returns", "gives", "shows", "complains", "crashes", "hangs",
    "docs", "takes", "doesn't", "didn't", "won't", "isn't", "can't", "stops", "breaks", "does", "seems", "error", "errors", "script", "scripts", "job",
    "jobs", "workflow", "workflows", "button", "buttons", "notes", "step", "steps", "pipeline", "pipelines", "guide", "instructions", "section", "checklist", "date", "page", "logic", "handler", "endpoint", "test", "tests", "message", "messages",
];

/// Words that make a noun of the word before, whatever verb stands before both.
#[rustfmt::skip]
const COMPOUNDS: &[&str] = &[
    "notes", "docs", "guide", "checklist", "instructions", "logs", "log", "history", "button", "page", "email", "template", "banner", "policy", "target", "workflow", "pipeline", "logic", "handler", "endpoint",
];

/// Stems of verbs for looking at things.
#[rustfmt::skip]
const LOOKING: &[&str] = &[
    "check", "look", "show", "list", "explain", "describ", "print", "count", "inspect", "review", "see.", "find", "compar", "summar", "tell", "read.",
    "analy", "debug", "investigat", "diagnos", "verif", "validat", "audit", "measur", "report", "fetch", "view", "watch", "monitor", "lint", "test", "give.", "tell", "geef", "gib.", "dame", "donne", "dammi", "daj.", "дай",
    "zeig", "pruf", "erklar", "schau", "guck", "anzeig", "auflist", "liste", "vergleich", "zahl", "finde", "such",
    "montr", "affich", "verifi", "regard", "expliqu", "compte", "trouv", "cherch", "muestr", "revis", "comprueb", "mira", "explic", "busca", "cuenta",
    "mostra", "elenc", "controll", "guarda.", "spieg", "conta.", "trova", "veja", "olha", "pokaz", "sprawdz", "wylist", "wyjasn", "zobacz", "policz", "wypisz", "znajdz",
    "toon", "laat", "bekijk", "controleer", "uitleg", "tel.", "zoek", "arata", "verific", "listeaza", "gaseste", "numara", "uita-te",
    "покаж", "провер", "посмотр", "вывед", "глян", "объясн", "найд", "посчит", "goster", "göster", "kontrol", "listele", "bak", "incele", "bul.",
    "看", "查", "检查", "解释", "列出", "显示", "見", "確認", "調べ", "教え", "一覧", "表示", "説明",
];

/// Stems of verbs for editing code and texts.
const EDITING: &[&str] = &[
    "fix",
    "renam",
    "refactor",
    "document",
    "improv",
    "writ",
    "typo",
    "implement",
    "add.",
    "build",
    "schreib",
    "исправ",
    "почин",
    "修复",
    "修正",
];

/// Prompts up to this number of words without a verb for work are questions: "flyway state".
const MAX_NOUNS: usize = 7;

/// Stems of verbs for work on files, besides those of [`WORKING`].
#[rustfmt::skip]
const WORK: &[&str] = &[
    "fix", "renam", "refactor", "document", "improv", "writ", "format", "implement", "add", "build", "rebuild", "run.", "rerun", "make.", "convert", "generat", "regenerat",
    "compil", "commit", "migrat", "rewrit", "reorgan", "restructur", "cleanup", "extract", "split", "merg", "port.", "use.", "do.", "try.", "get.", "let.", "give", "bring", "finish",
    "continu", "complet", "replac", "mov", "swap", "simplif", "optimi", "otimiz", "ottimiz", "optymaliz", "оптимиз", "speed", "accel", "reduc", "increas", "extend", "allow", "prevent", "ensur", "keep", "stop", "start", "resolv", "solv", "handl", "support", "need", "want", "should", "must", "please", "yes", "ok.", "okay",
    "translat", "adapt", "correct", "repair", "prepar", "bump", "pack", "archiv", "compress", "minif", "unify", "dedup", "sort", "organi", "align", "revert", "undo", "test.", "tests.",
    "beheb", "reparier", "schreib", "mach", "nenn", "umbenenn", "bau", "korrigier", "verbesser", "ersetz", "fug", "hinzu", "ubersetz", "teste.", "testen", "richt",
    "corrig", "repar", "renomm", "ecri", "fais", "construi", "remplac", "traduis", "ameliore", "arregl", "escrib", "haz", "renombr", "constru", "reemplaz", "traduc", "mejor", "convierte",
    "corregg", "sistem", "scriv", "rinomin", "fai.", "costrui", "sostitui", "traduci", "miglior", "consert", "escrev", "faz", "faca", "substitu", "traduz", "melhor", "rode", "roda",
    "napraw", "popraw", "napisz", "zbuduj", "zrob", "zastap", "przetlum", "przenies", "ulepsz", "repareer", "schrijf", "bouw", "doe.", "vervang", "vertaal", "verbeter", "los.", "draai",
    "repara", "scrie", "fa.", "construie", "inlocui", "tradu", "imbunat", "ruleaz", "rulez", "redenum", "muta", "rescri", "почин", "исправ", "напиш", "сдела", "собер", "перепиш", "переимен", "перевед",
    "замен", "улучш", "прогон", "дуз", "duzelt", "düzelt", "yaz.", "yap", "calistir", "çalıştır", "derle", "ekle", "degistir", "değiştir", "修", "写", "改", "加", "构建", "运行", "跑", "重构", "实现", "替换", "翻译", "优化",
    "直し", "書", "作", "実装", "直して", "ビルド", "実行", "翻訳", "置き換え", "リファクタ",
];

/// Stems of verbs for work on services and data.
const WORKING: &[&[&str]] = &[
    crate::danger::stems::REMOVE,
    crate::danger::stems::TIDY,
    crate::danger::stems::RESET,
    crate::danger::stems::PUBLISH,
    crate::danger::stems::CHANGE,
    crate::danger::stems::STOP,
    crate::danger::stems::RESTART,
    crate::danger::stems::SEND,
];

/// Stems of verbs for what others see, besides those of [`WORKING`]: the guard asks about it unless a prompt says so.
#[rustfmt::skip]
const ACTS: &[&str] = &["commit", "comit", "提交", "コミット", "push", "merg", "land.", "tag.", "pr.", "mr.", "rebas", "amend", "squash", "force", "appl", "migrat", "rollback", "merge", "fusion", "scal.", "mergeaz", "合并", "マージ"];

/// Whether a prompt asks for something that the guard would ask about otherwise, such as "push" or "ok, ship it".
pub fn asks_to_act(prompt: &str) -> bool {
    let request = RequestWords::new(vec![prompt], &[]);
    let stems = [ACTS, crate::danger::stems::DISCARD];
    WORKING
        .iter()
        .copied()
        .chain(stems)
        .any(|stems| request.orders_any(stems))
}

/// What the words of a clause mean so far.
#[derive(Default)]
struct Clause {
    count: usize,
    is_about: bool,
    does: bool,
}

impl RequestWords {
    /// Reads the user's texts, and the proposals of the agent that the user accepted, an order a line.
    pub(crate) fn new(texts: Vec<&str>, consents: &[String]) -> Self {
        let mut request = Self::default();
        let mut spoken = Vec::new();
        let agreed = consents.iter().flat_map(|orders| orders.lines());
        for text in texts.into_iter().chain(agreed) {
            request.has_client_command |= is_client_command(text);
            let words = words(text);
            spoken.push(request.read(&words));
            let ordered = words.iter().take(MAX_ORDERED).map(|word| OrderedWord {
                folded: word.folded.to_string(),
                ends_clause: word.pauses(),
            });
            request.texts.push(ordered.collect());
        }
        request.read_go_ahead(&spoken);
        // The beginning of the same prompt may be a text of its own.
        for word in std::mem::take(&mut request.retracted) {
            request.working.remove(&word);
            request.asking.remove(&word);
            request.ordering.remove(&word);
        }
        request
    }

    /// What was prepared is asked for if the newest text, the second one, only says to go ahead.
    fn read_go_ahead(&mut self, texts: &[Vec<Spoken>]) {
        if texts.get(1).is_some_and(|newest| colloquial::is_go_ahead(newest)) {
            let meanings = texts.iter().flat_map(|text| colloquial::meanings(text, true));
            self.order(meanings.collect());
        }
    }

    /// Adds words for which the request stands.
    fn order(&mut self, meanings: Vec<&str>) {
        let words = || meanings.iter().map(|word| (*word).to_owned());
        self.working.extend(words());
        self.asking.extend(words());
        self.ordering.extend(words());
    }

    /// Reads a text. Returns its words for pairs of them.
    fn read(&mut self, words: &[Word<'_>]) -> Vec<Spoken> {
        let mut spoken: Vec<Spoken> = Vec::with_capacity(words.len());
        let mut clause = Clause::default();
        let questions = questions(words);
        let objects = Objects::new(words);
        let narrated = narration::narrated(words);
        let mut asked: Vec<String> = Vec::new();
        let (mut is_quoted, mut is_single_quoted) = (false, false);
        self.words += words.len();
        for (at, word) in words.iter().enumerate() {
            let folded = retraction::kept_end(word).unwrap_or(word.folded.as_str());
            let next = words.get(at + 1).map_or("", |next| next.folded.as_str());
            // "Open a PR, wait, not yet": what was asked so far is taken back.
            if retraction::begins_at(words, at) {
                asked.clear();
                let meanings = colloquial::meanings(&spoken, false);
                self.retracted
                    .extend(meanings.iter().map(|word| (*word).to_owned()));
                spoken.clear();
                let before = words[..at].iter();
                self.retracted.extend(before.flat_map(|word| parts(&word.folded)));
                clause = Clause::default();
            }
            if JOINING.contains(&folded) {
                clause = Clause::default();
            }
            let before = at
                .checked_sub(1)
                .map_or("", |before| words[before].folded.as_str());
            // "Preview the infra change"
            let second = at
                .checked_sub(2)
                .map_or("", |before| words[before].folded.as_str());
            let ends = word.pauses() || at + 1 == words.len();
            let is_compound = clause.count > 2
                && ends
                && DETERMINERS.contains(&second)
                && !AUXILIARY.contains(&before)
                && !matches!(before, "to" | "please" | "now" | "then" | "not");
            let is_noun = !clause.does
                && (clause.count > 0 && DETERMINERS.contains(&before)
                    || is_compound)
                || !clause.does && AFTER_NOUN.contains(&next) && !word.pauses() && !is_verb_of_trials(words, at)
                // "Prepare the release notes"
                || COMPOUNDS.contains(&next) && !word.pauses();
            // "stuck in deleting"
            let is_state = clause.count > 0 && STATES.contains(&before)
                || before == "in" && folded.ends_with("ing")
                || before == "in" && folded.ends_with("ed")
                || folded == "give" && matches!(next, "me" | "us")
                // "Accounting has already fixed it"
                || matches!(before, "already" | "been" | "have" | "has" | "had") && folded.ends_with("ed")
                || clause.count > 0 && is_adjective(folded, before, next)
                // "No, revert it", "dă push"
                || before != "please" && is_before_noun(folded, before, clause.count);
            // `Release` within a sentence is the name of something.
            let mut letters = word.raw.chars();
            let is_title = letters.next().is_some_and(char::is_uppercase)
                && letters.next().is_some_and(char::is_lowercase);
            let is_name = folded.is_ascii() && folded.contains(['/', '.', '_', '('])
                || is_title && clause.count > 0 && before != "please";
            // `POST /v1/users` is a route.
            let is_method = matches!(word.raw, "GET" | "POST" | "PUT" | "PATCH" | "DELETE")
                && (clause.count > 0
                    || words
                        .get(at + 1)
                        .is_some_and(|next| next.before.contains('/') || next.raw.starts_with('/')));
            let is_name = is_name || is_method;
            self.all.extend(parts(folded));
            let is_narrated = narrated.get(at) == Some(&true);
            if !is_narrated {
                self.addressed.extend(parts(folded));
            }
            let is_wanted = !is_negated(words, at);
            if is_wanted {
                self.wanted.extend(parts(folded));
            }
            // "How about", "why not" and "do you" propose or ask.
            let is_proposal = matches!(next, "about" | "not" | "don't");
            // Spanish "hay que" orders.
            let asks = AUXILIARY.contains(&folded) && !(folded == "hay" && next == "que")
                || folded == "do" && matches!(next, "you" | "we" | "i" | "they");
            let is_french = folded != "comment"
                || !matches!(
                    next,
                    "on" | "out" | "to" | "that" | "the" | "it" | "with" | "in" | ""
                );
            clause.is_about |=
                ABOUT.contains(&folded) && !is_proposal && is_french || clause.count == 0 && asks;
            clause.is_about |= questions.get(at) == Some(&true);
            clause.is_about |= ASKING_PARTS.iter().any(|part| folded.contains(part));
            if let Some(removal) =
                removal_phrase(second, before, folded).filter(|_| is_wanted && !clause.is_about)
            {
                self.working.insert(removal.to_owned());
                self.asking.insert(removal.to_owned());
                if !objects.are_code(at) && !vague::is_vague_phrase(words, at, &objects) {
                    self.ordering.insert(removal.to_owned());
                }
            }
            self.is_asking |= clause.is_about;
            // What is quoted is a message or a name.
            let opens = |text: &str| text.contains(['"', '“', '«', '„']);
            // 'failed to erase': a word that begins with an apostrophe, and one that ends with it.
            let mut quoted = words[at..].iter().take(MAX_QUOTED);
            is_single_quoted |=
                word.before.ends_with('\'') && quoted.any(|later| later.after.starts_with('\''));
            let is_in_single = is_single_quoted;
            is_single_quoted &= !word.after.starts_with('\'');
            is_quoted |= opens(word.before) && !word.after.contains(['"', '”', '»', '“']);
            let is_in_quotes = is_quoted || is_in_single || opens(word.before);
            is_quoted &= !word.after.contains(['"', '”', '»', '“']);
            let is_name = is_name || is_in_quotes;
            let mut said = Spoken::new(folded);
            said.may_order = !(clause.is_about || is_in_quotes || is_state || is_narrated);
            said.is_negated = !is_wanted;
            said.ends = word.pauses();
            spoken.push(said);
            if is_wanted && !(clause.is_about || is_noun || is_name || is_state) {
                self.working.extend(parts(folded));
                if !is_narrated {
                    let is_order = !objects.are_code(at) && !vague::is_vague_removal(words, at, &objects);
                    for text in addressed_in(folded, at, next) {
                        self.asking.extend(parts(text));
                        asked.extend(parts(text));
                        if is_order {
                            self.ordering.extend(parts(text));
                        }
                    }
                }
            }
            clause.does |= DOING.contains(&folded);
            clause.count += 1;
            if word.pauses() {
                clause = Clause::default();
            }
        }
        let meanings = colloquial::meanings(&spoken, false);
        // "Starte die Container neu" asks for no new ones.
        if meanings.contains(&"restart") {
            self.ordering.remove("neu");
            self.asking.remove("neu");
            self.working.remove("neu");
        }
        asked.extend(meanings.iter().map(|word| (*word).to_owned()));
        self.order(meanings);
        for word in asked {
            self.retracted.remove(&word);
        }
        spoken
    }

    /// Whether the request only asks questions.
    pub(crate) fn is_question(&self) -> bool {
        self.working.is_empty() && !self.all.is_empty()
    }

    /// Whether the request only asks questions, or to look at things: no word in it asks for work.
    pub(crate) fn only_looks(&self) -> bool {
        let looks = self.is_asking || self.words <= MAX_NOUNS || self.requests_any(LOOKING);
        // "#1207" is the number of a task.
        let is_said = self.all.iter().any(|word| word.contains(char::is_alphabetic));
        looks
            && is_said
            && !self.has_client_command
            && !self.is_work(WORK)
            && !WORKING.iter().any(|stems| self.is_work(stems))
    }

    /// Whether the request orders something other than to look at things or to edit them.
    pub(crate) fn is_order(&self) -> bool {
        let works = self.mentions_any(WORK) || WORKING.iter().any(|stems| self.mentions_any(stems));
        works && !self.is_work(LOOKING) && !self.is_work(EDITING)
    }

    /// Whether a word that starts with one of these stems tells of work, whoever does it.
    fn is_work(&self, stems: &[&str]) -> bool {
        let mut working = self.working.iter();
        working.any(|word| is_form_of(word, stems) && !is_no_order(word, stems))
    }

    /// Whether the request wants to keep something, or is about one file and not about all changes.
    pub(crate) fn asks_for_less_than_all(&self) -> bool {
        let names_file = |word: &String| is_path(word) || matches!(word.as_str(), "readme" | "only");
        self.is_about(KEEPING) || !self.is_about(ALL_CHANGES) && self.all.iter().any(names_file)
    }

    /// Whether the request contains a word that starts with one of these stems, even if it asks for nothing.
    pub(crate) fn is_about(&self, stems: &[&str]) -> bool {
        self.all.iter().any(|word| is_form_of(word, stems))
    }

    /// Like [`Self::is_about`], without clauses that only tell something: "when I restart the server".
    pub(crate) fn addresses_any(&self, stems: &[&str]) -> bool {
        self.addressed.iter().any(|word| is_form_of(word, stems))
    }

    /// Whether the request contains a word.
    pub(crate) fn names(&self, word: &str) -> bool {
        self.all.contains(&word.to_lowercase())
    }

    /// Whether the request contains the name of a file, with or without folders.
    pub(crate) fn names_path(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let is_path = |word: &String| {
            word.strip_suffix(&name)
                .is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        };
        self.all.iter().any(is_path)
    }

    /// Whether the request asks with a word that starts with one of these stems: no question, negation or name.
    pub(crate) fn mentions_any(&self, stems: &[&str]) -> bool {
        let mut asking = self.asking.iter();
        asking.any(|word| is_form_of(word, stems) && !is_no_order(word, stems))
    }

    /// Like [`Self::mentions_any`], for what commands do: "remove the unused import" asks for no command that removes.
    pub(crate) fn orders_any(&self, stems: &[&str]) -> bool {
        let mut ordering = self.ordering.iter();
        ordering.any(|word| is_form_of(word, stems) && !is_no_order(word, stems))
    }

    /// Whether the request contains a word that starts with one of these stems and is not negated. A stem with a dot at its
    /// end is a whole word. Stems of languages without spaces may be anywhere in a word.
    pub(crate) fn requests_any(&self, stems: &[&str]) -> bool {
        self.wanted.iter().any(|word| is_form_of(word, stems))
    }

    /// Whether a text names, among its first `within` words, a topic near its state in one clause: "the tests fail", "fix the
    /// tests". They do not belong together with a word of `apart` between or shortly before them ("add tests for the failing
    /// case"), nor with "and" after the state ("fix it and the tests").
    pub(crate) fn has_near(&self, topic: &[&str], state: &[&str], apart: &[&str], within: usize) -> bool {
        self.texts.iter().any(|text| {
            let text = &text[..text.len().min(within)];
            let is_apart = |at: usize| {
                let before = text[at.saturating_sub(SHORTLY)..at].iter().rev();
                let mut before = before.take_while(|word| !word.ends_clause);
                before.any(|word| word.is_any(apart))
            };
            (0..text.len()).filter(|at| !is_apart(*at)).any(|at| {
                let clause = text[at..]
                    .iter()
                    .position(|word| word.ends_clause)
                    .map_or(text.len(), |end| at + end + 1);
                let near = &text[at..clause.min(at + NEAR + 1)];
                is_pair(near, topic, state, apart, &[]) || is_pair(near, state, topic, apart, JOINING)
            })
        })
    }
}

/// Whether words begin with a form of one list and reach one of the other before a form of `apart` and one of the `joining` words.
fn is_pair(words: &[OrderedWord], first: &[&str], second: &[&str], apart: &[&str], joining: &[&str]) -> bool {
    let Some((begin, rest)) = words.split_first() else {
        return false;
    };
    // Languages without spaces have both in one word.
    begin.is_any(first)
        && (!begin.folded.is_ascii() && begin.is_any(second)
            || rest
                .iter()
                .take_while(|word| !word.is_any(apart) && !joining.contains(&word.folded.as_str()))
                .any(|word| word.is_any(second)))
}

/// Whether the word before makes a word a noun in other languages: "le deploy", "build de release". An infinitive may follow
/// a preposition.
fn is_before_noun(word: &str, before: &str, count: usize) -> bool {
    #[rustfmt::skip]
    const ARTICLES: &[&str] = &["der", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "el", "un", "una", "une", "uno", "um", "uma", "het", "een", "del", "dello", "della", "beim", "zum", "zur", "vom", "im", "al", "au"];
    const PREPOSITIONS: &[&str] = &["de", "di", "do", "da", "du", "von", "van", "na", "no"];
    let is_infinitive = ["r", "re", "er", "en", "n"].iter().any(|end| word.ends_with(end));
    !is_infinitive && (ARTICLES.contains(&before) || count > 1 && PREPOSITIONS.contains(&before))
}

/// Whether a word is a verb whose object is for trials: "remove test users", and not "the restore test fails".
fn is_verb_of_trials(words: &[Word<'_>], at: usize) -> bool {
    #[rustfmt::skip]
    const THINGS: &[&str] = &[
        "users", "user", "data", "rows", "row", "records", "accounts", "account", "db", "database", "databases", "branches", "branch", "containers", "container", "orders", "entries", "tables", "buckets",
        "cluster", "namespace", "namespaces", "pods", "volumes", "artifacts", "releases", "tags", "images", "queues", "topics", "messages", "files", "logs", "stack", "env", "environment", "customers",
    ];
    let is = |distance: usize, list: &[&str]| words.get(at + distance).is_some_and(|word| word.is_any(list));
    is(1, &["test", "error", "job", "jobs"]) && is(2, THINGS)
}

/// Whether "empty" says what something is: "skip empty rows", and not "empty the trash".
fn is_adjective(word: &str, before: &str, next: &str) -> bool {
    const VERB_BEFORE: &[&str] = &[
        "to", "and", "then", "please", "now", "or", "just", "go", "can", "you", "lets", "let's",
    ];
    word == "empty"
        && !DETERMINERS.contains(&next)
        && !matches!(next, "it" | "them" | "out" | "all")
        && !VERB_BEFORE.contains(&before)
}

/// Stems of words that keep something.
#[rustfmt::skip]
const KEEPING: &[&str] = &["keep", "behalt", "garde.", "garder", "conserv", "manten", "mantien", "zachowa", "pastr", "behoud", "without.", "保留", "残し"];

/// Stems of words for all changes of a working tree.
#[rustfmt::skip]
const ALL_CHANGES: &[&str] = &[
    "all.", "everything", "changes", "edits", "uncommitted", "branch", "alles", "alle.", "anderung", "tout", "changement", "modif", "todo", "cambios", "tutto", "tudo", "mudanc", "alterac", "wszystk", "zmiany", "tot.", "toate", "schimbar", "全部", "所有", "すべて", "全て",
];

/// Words that make a sentence with a question mark an order: "can you delete it?".
#[rustfmt::skip]
const ORDERING: &[&str] = &[
    "can", "could", "would", "will", "please", "pls", "plz", "mind", "should", "shall", "may", "let's", "not", "about", "kannst", "konntest", "konnen", "konnten", "bitte", "magst", "wurdest",
    "peux", "pourrais", "pouvez", "puedes", "podrias", "puede", "podemos", "pode", "poderia", "podes", "puoi", "potresti", "possiamo", "moz", "mozesz", "moglbys", "mozna", "kun", "kunt", "zou",
    "poti", "ai", "putem", "можешь", "можете", "можно", "давай", "nu", "svp", "stp", "ok", "okay", "misin", "mısın", "musun", "müsün", "lütfen", "lutfen", "yapabilir",
];

/// Which words belong to sentences that end with a question mark and order nothing: "vault seal status?".
fn questions(words: &[Word<'_>]) -> Vec<bool> {
    let mut found = vec![false; words.len()];
    let mut start = 0;
    for (at, word) in words.iter().enumerate() {
        if word.after.contains(['?', '？']) {
            let sentence = &words[start..=at];
            let orders = sentence.iter().any(|word| {
                word.is_any(ORDERING)
                    || ["可以", "能", "吗", "くれ", "ください", "もらえ"]
                        .iter()
                        .any(|part| word.folded.contains(part))
            });
            found[start..=at].fill(!orders);
        }
        if word.after.contains(['?', '？', '.', '!', '。', '\n', ';']) {
            start = at + 1;
        }
    }
    found
}

/// The parts of a word that may order something. In languages without spaces between words, a word is a clause.
fn addressed_in<'w>(word: &'w str, at: usize, next: &str) -> Vec<&'w str> {
    match word.is_ascii() {
        true => vec![word],
        false if word.chars().any(crate::constraints::is_unspaced) => {
            narration::addressed(word, at > 0, next)
        }
        false => vec![word],
    }
}

/// The verb for which two words stand: "it can go", "throw it away", "kick them out".
fn removal_phrase(second: &str, before: &str, word: &str) -> Option<&'static str> {
    const THROWING: &[&str] = &[
        "throw", "throwing", "kick", "toss", "chuck", "rip", "take", "boot", "strip", "clear", "weed", "put",
        "go",
    ];
    let is_removal = match word {
        "go" | "gone" | "verschwinden" | "partir" | "irse" => {
            matches!(
                before,
                "can" | "may" | "must" | "should" | "be" | "kann" | "muss" | "soll" | "peut" | "doit"
            )
        }
        // "Throw it away", and not "sort it out"
        "away" => before != "right" && before != "straight",
        "out" => {
            before == "kick"
                || matches!(before, "them" | "it" | "him" | "those") && THROWING.contains(&second)
        }
        _ => false,
    };
    is_removal.then_some("remove")
}

/// Whether a prompt runs a command or skill of the client: `/release minor`. A path is none.
fn is_client_command(text: &str) -> bool {
    let name = text
        .split_whitespace()
        .next()
        .and_then(|word| word.strip_prefix('/'));
    name.is_some_and(|name| {
        name.starts_with(|letter: char| letter.is_ascii_lowercase()) && !name.contains(['/', '.'])
    })
}

/// Whether the word at an index has a negation next to it in its clause.
fn is_negated(words: &[Word<'_>], at: usize) -> bool {
    if NEGATING_PARTS.iter().any(|part| words[at].folded.contains(part)) {
        return true;
    }
    let before = (at.saturating_sub(NEGATED_AFTER)..at).rev();
    let after = at + 1..words.len().min(at + 1 + NEGATED_BEFORE);
    before
        .take_while(|near| !ends_clause(&words[*near]))
        .chain(after.take_while(|near| !ends_clause(&words[near - 1])))
        .any(|near| {
            // "Apply no" negates, Portuguese "publica no npm" does not.
            let is_article =
                near > at && words[near].folded == "no" && near + 1 < words.len() && !words[near].pauses();
            words[near].is_any(NEGATIONS) && !is_article
        })
}

/// Whether a clause ends after a word.
fn ends_clause(word: &Word<'_>) -> bool {
    word.pauses() || word.is_any(&["but", "aber", "mais", "dar", "pero", "ma", "mas", "ale", "maar"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_asked_for_by_a_verb_of_an_order() {
        for (text, stem) in [
            ("delete the old branch", "delet"),
            ("Rebase it and force-push", "force"),
            ("can you deploy this?", "deploy"),
            ("why is it slow? drop the index", "drop"),
            ("do the release", "releas"),
            ("when the tests pass, publish it", "publish"),
            ("how about deleting the cache", "delet"),
            ("the branch can be deleted", "delet"),
            ("把旧分支删除", "删"),
            ("удали ветку", "удал"),
        ] {
            let request = RequestWords::new(vec![text], &[]);
            assert!(request.mentions_any(&[stem]), "{text}");
        }
        let consent = ["Should I delete the volume?".to_owned()];
        assert!(RequestWords::new(vec!["yes"], &consent).mentions_any(&["delet"]));
    }

    #[test]
    fn what_is_taken_back_is_not_asked_for() {
        for (text, stem, expected) in [
            (
                "open a PR for this? wait, not yet, first show me the diff",
                "open",
                false,
            ),
            ("make the deploy to prod.. wait no. just show me", "deploy", false),
            ("lösch den Branch. Nein warte, doch nicht", "losch", false),
            ("supprime la base, non attends, montre-la", "supprim", false),
            ("удали ветку, хотя нет, покажи её", "удал", false),
            ("把分支删了，等等，先看看", "删", false),
            ("wait for the build, then deploy it", "deploy", true),
            ("the build is not yet done? deploy it anyway", "deploy", true),
            (
                "delete the file from the history, the repo is not yet pushed",
                "delet",
                true,
            ),
            ("they have already deployed it", "deploy", false),
            ("the write fails with 'failed to erase memory'", "eras", false),
        ] {
            let request = RequestWords::new(vec![text], &[]);
            assert_eq!(request.orders_any(&[stem]), expected, "{text}");
        }
        let request = RequestWords::new(vec!["deploy it", "wait no, show me the log"], &[]);
        assert!(request.orders_any(&["deploy"]));
        let request = RequestWords::new(vec!["open a PR", "open a PR? wait, not yet, first show me"], &[]);
        assert!(!request.orders_any(&["open"]) && request.only_looks());
    }

    #[test]
    fn the_number_of_a_task_is_no_question() {
        assert!(!RequestWords::new(vec!["#1207"], &[]).only_looks());
        assert!(RequestWords::new(vec!["flyway state"], &[]).only_looks());
        assert!(!RequestWords::new(vec!["/feature-build FEAT-FHA"], &[]).only_looks());
        assert!(RequestWords::new(vec!["/var/log is full?"], &[]).only_looks());
    }

    #[test]
    fn empty_is_a_verb_before_its_object() {
        for (text, expected) in [
            ("skip empty rows", false),
            ("empty the trash", true),
            ("stop it and empty redis", true),
        ] {
            let request = RequestWords::new(vec![text], &[]);
            assert_eq!(request.mentions_any(&["empty"]), expected, "{text}");
        }
    }

    #[test]
    fn an_action_that_is_only_named_is_not_asked_for() {
        for (text, stem) in [
            ("which files would be published?", "publish"),
            ("why does the delete button fail", "delet"),
            ("fix the typo in the deploy script", "deploy"),
            ("check the deploy workflow's syntax", "deploy"),
            ("document the release procedure", "releas"),
            ("tag it, but don't push", "push"),
            ("plan yes, apply no", "apply"),
            ("fix the quoting in deploy.sh", "deploy"),
            ("explain how force push works", "force"),
            ("is the image already deployed?", "deploy"),
            ("the list is empty", "empt"),
            ("restore says duplicate key", "restor"),
            ("pack it for me in Release", "releas"),
        ] {
            let request = RequestWords::new(vec![text], &[]);
            assert!(!request.mentions_any(&[stem]), "{text}");
            assert!(request.all.iter().any(|word| word.starts_with(stem)), "{text}");
        }
    }
}
