//! Words of decisions and reasons in thirteen languages, folded. Tables that are searched word by word are sorted; an entry
//! that ends with `*` is a stem, one that ends with `'` is elided.

/// Before a reason.
#[rustfmt::skip]
pub(super) const CAUSES: &[&str] = &[
    "a causa de", "a causa del", "a causa della", "a causa di", "a cause d'", "a cause de", "a cause des", "a cause du",
    "aangezien", "aufgrund", "avand in vedere ca", "because", "because of", "bo", "bowiem", "caci", "cunku", "dado que",
    "dat fiind ca", "dato che", "debido a", "debido al", "denn", "deoarece", "din cauza", "doordat", "due to",
    "etant donne qu'", "etant donne que", "fiindca", "gdyz", "given that", "in quanto", "intrucat", "ja que", "jako ze",
    "omdat", "parce qu'", "parce que", "pentru ca", "per via", "perche", "poiche", "poniewaz", "por causa", "por culpa",
    "porque", "pues", "puesto que", "puisqu'", "puisque", "siccome", "since", "uma vez que", "vanwege", "visto che",
    "visto que", "vu qu'", "vu que", "wegen", "weil", "ya que", "z powodu", "zira", "zumal", "zwazywszy ze", "бо",
    "ввиду того", "ведь", "ибо", "из-за", "оскільки", "поскольку", "потому что", "т.к", "так как",
];

/// Before a purpose.
#[rustfmt::skip]
pub(super) const PURPOSES: &[&str] = &[
    "aby", "affinche", "afin d'", "afin de", "afin qu'", "afin que", "astfel incat", "ca sa", "de forma que",
    "de manera que", "de maniere a", "de modo que", "in modo che", "in order not to", "in order to", "in ordine",
    "om te voorkomen", "opdat", "para evitar", "para nao", "para no", "para que", "pentru a evita", "pentru a nu",
    "per evitare", "per non", "pour eviter", "pour ne pas", "pour qu'", "pour que", "pra nao", "pra que",
    "so as not to", "so as to", "so that", "sodass", "that way", "this way", "to avoid", "to keep", "to prevent",
    "um zu vermeiden", "which avoids", "which keeps", "zeby", "zodat", "во избежание", "чтобы", "щоб",
];

/// Before what would happen otherwise.
#[rustfmt::skip]
pub(super) const OTHERWISE: &[&str] = &[
    "aksi halde", "aksi takdirde", "altfel", "altrimenti", "anders", "ansonsten", "autrement", "caso contrario",
    "de lo contrario", "en caso contrario", "faute de", "faute de quoi", "in caso contrario", "inaczej", "or else",
    "otherwise", "senao", "si no", "sinon", "sonst", "w przeciwnym razie", "yoksa", "иначе", "інакше",
];

/// Before a consequence: the reason comes first.
#[rustfmt::skip]
pub(super) const CONSEQUENCES: &[&str] = &[
    "asa ca", "asi que", "bu nedenle", "bu yuzden", "d'ou", "daarom", "daher", "darum", "de aceea", "de ahi que",
    "deshalb", "deswegen", "dlatego", "donc", "du coup", "dus", "entao", "hence", "o yuzden", "par consequent",
    "per questo", "percio", "por eso", "por isso", "por lo que", "portanto", "quindi", "therefore", "thus", "wiec",
    "поэтому", "так что", "тому",
];

/// Connectives that other languages use differently: the phrase, its kind, and the commonest words of its language.
#[rustfmt::skip]
pub(super) const AMBIGUOUS: &[(&str, Kind, &[&str])] = &[
    ("as", Kind::Cause, ENGLISH), ("so", Kind::Consequence, ENGLISH), ("da", Kind::Cause, GERMAN), ("damit", Kind::Purpose, GERMAN),
    ("car", Kind::Cause, FRENCH), ("comme", Kind::Front, FRENCH), ("como", Kind::Front, IBERIAN), ("pois", Kind::Cause, IBERIAN),
    ("want", Kind::Cause, DUTCH), ("cum", Kind::Front, ROMANIAN),
];

const ENGLISH: &[&str] = &[
    "a", "all", "and", "are", "has", "i", "is", "it", "of", "on", "our", "that", "the", "this", "to", "we",
    "with", "would",
];
const GERMAN: &[&str] = &[
    "auf", "das", "dem", "den", "der", "die", "dieser", "ein", "eine", "es", "ich", "ist", "kein", "keine",
    "nicht", "nur", "sie", "sind", "und", "wir",
];
const FRENCH: &[&str] = &[
    "ce", "de", "des", "du", "en", "est", "et", "il", "je", "la", "le", "les", "nous", "on", "pas", "qui",
    "sur", "un", "une",
];
const IBERIAN: &[&str] = &[
    "a", "com", "con", "da", "de", "del", "do", "el", "em", "en", "la", "los", "mais", "na", "nao", "no",
    "o", "os", "para", "que", "se", "so", "un", "uma",
];
const ROMANIAN: &[&str] = &[
    "a", "ca", "cu", "de", "din", "e", "in", "la", "nu", "o", "pe", "printr-o", "se", "si", "sunt", "un",
];
const DUTCH: &[&str] = &[
    "dat", "de", "een", "geen", "het", "is", "met", "niet", "nog", "op", "van", "voor", "we", "ze",
];

/// The words that may follow a connective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The reason.
    Cause,
    /// The reason, only at the beginning of a sentence.
    Front,
    /// The purpose.
    Purpose,
    /// What would happen without the choice.
    Otherwise,
    /// The choice; the reason comes before it.
    Consequence,
}

/// Turkish words after a reason; the choice follows.
pub(super) const AFTER_REASON: &[&str] = &[
    "dolayı",
    "diye",
    "icin",
    "nedeniyle",
    "oldugundan",
    "olduğundan",
    "yuzunden",
    "yüzünden",
];

/// Between what was chosen and what was not.
#[rustfmt::skip]
pub(super) const ALTERNATIVES: &[&str] = &[
    "a nie", "al posto di", "anstatt", "anstelle", "anziche", "ao inves de", "au lieu d'", "au lieu de", "au lieu du",
    "degil", "e nao", "e non", "em vez de", "em vez do", "en lugar de", "en niet", "en vez de", "et non", "in favor of",
    "in favour of", "in loc de", "in locul", "in plaats van", "in place of", "instead of", "invece che", "invece del",
    "invece di", "mai degraba", "niz", "non pas", "over the", "piuttosto che", "plutot qu'", "plutot que",
    "rather than", "si nu", "statt", "und nicht", "y no", "yerine", "zamiast", "а не", "вместо", "замість",
];

/// Verbs that state a decision.
#[rustfmt::skip]
pub(super) const DECIDED: &[&str] = &[
    "abandonne", "absichtlich", "am ales", "am decis", "am preferat", "am renuntat", "am trecut la", "avoided",
    "beibehalten", "bewusst", "bewust", "celowo", "changed over to", "choose", "chose", "chosen", "conserve*",
    "decid*", "deliberately", "descart*", "dropped", "ecarte*", "eleg*", "elegi", "entschied*", "entschieden",
    "escolh*", "expres", "gekozen", "gewahlt", "gewechselt", "going with", "hemos optado", "ho scelto",
    "ik ben overgestapt", "intentionally", "kept", "koos", "mantenemos", "mantengo", "mantenho", "mantenut*",
    "mantive", "mantuve", "moved to", "odrzuc*", "on purpose", "opte*", "opted", "optei", "opting", "opto", "overgestapt", "passato a", "passe a",
    "passei para", "prefer*", "przeszedlem na", "przeszlismy na", "rejected", "renonce*", "retenu*", "ruled out",
    "scartat*", "scelgo", "scelto", "sectim", "settled on", "stayed", "staying", "stick with", "sticking with",
    "stuck with", "switched to", "tercih*", "umgestellt auf", "vazgec*", "verworfen", "verzicht*", "volontairement",
    "voluntarily", "weggelaten", "went with", "wybral*", "zdecydowa*", "zostawil*", "zrezygnowa*", "выбра*",
    "залиши*", "намеренно", "обрав*", "оставил*", "отказал*", "перевел на", "перешел на", "перешли на", "решил*",
];

/// Words by which a sentence states how something is since the work.
pub(super) const SINCE: &[&str] = &[
    "acum",
    "adesso",
    "agora",
    "ahora",
    "artik",
    "jetzt",
    "maintenant",
    "now",
    "nu",
    "nun",
    "ora",
    "simdi",
    "teraz",
    "теперь",
];

/// Verbs and particles of a choice: to use, keep, leave, take; only; without.
#[rustfmt::skip]
pub(super) const CHOICES: &[&str] = &[
    "adopt*", "aleg*", "alleen", "avoid*", "begrenz*", "behalt*", "behielt", "behoud*", "benutz*", "beschrank*", "bez",
    "birak*", "bleef", "bleib*", "blieb*", "blijf*", "blijven", "bırak*", "cap", "capped", "caps", "choos*", "deixei",
    "deixo", "dejado", "dejamos", "dejando", "dejar", "deje", "dejo", "doar", "drop*", "fara", "fica", "ficam",
    "fiquei", "folos*", "garde*", "geblieben", "gebruik*", "gehouden", "gelassen", "gelaten", "genomen", "go for",
    "go with", "habe gelassen", "hield", "houd*", "ignor*", "instead", "invece", "kaldi", "kaldı", "keep*", "kies",
    "koru*", "kullan*", "laat", "laisse*", "lasciat*", "lascio", "lass*", "laten", "leav*", "left", "lieber", "liever",
    "limit*", "limite*", "mant*", "max", "maximum", "nahm", "nam", "neem", "nehm*", "never", "nimm", "nimmt", "numai",
    "nur", "nutz*", "ohne", "only", "pastr*", "pick*", "plutot", "prend*", "preso", "pris", "prise", "puse", "qued*",
    "raman*", "ramas", "reemplac*", "remain*", "remplac*", "replac*", "resta", "restano", "reste", "restent", "resto",
    "restrict*", "reuse*", "rimane", "rimango", "sadece", "sans", "senza", "setz*", "seulement", "sigo", "sigue",
    "siguen", "sin", "skip*", "so para", "solo", "somente", "statt", "stay*", "stays", "stick*", "switch*", "tengo",
    "tenho", "tenut*", "tiens", "troquei", "trzym*", "tuttum", "tutuldu", "tutuyor", "tylko", "usa", "usado", "usamos",
    "usan", "usando", "usar", "usaremos", "usat*", "usata", "usate", "usati", "usato", "use", "used", "usei", "uses",
    "using", "uso", "utilic*", "utilis*", "utiliz*", "uzyl*", "uzyt*", "uzywa*", "verwend*", "weglassen", "went for",
    "without", "wole", "wybier*", "yalnizca", "yalnızca", "zonder", "zostaj*", "zostaw*", "без", "берем", "беру",
    "берём", "взял*", "использ*", "лише", "оставл*", "только", "тільки", "хран*", "храним",
];

/// Negations: a choice not to do something.
#[rustfmt::skip]
pub(super) const NEGATIONS: &[&str] = &[
    "aren't", "didn't", "doesn't", "don't", "geen", "isn't", "kein", "keine", "keinem", "keinen", "nao", "nicht", "nie",
    "niet", "no", "non", "not", "nu", "pas", "wasn't", "weren't", "won't", "не", "нет",
];

/// English negations of descriptions.
pub(super) const DESCRIBING: &[&str] = &[
    "aren't", "doesn't", "don't", "isn't", "no", "non", "not", "wasn't", "weren't", "won't",
];

/// Words of a failure or of a problem: a sentence that narrates it is no decision.
#[rustfmt::skip]
pub(super) const PROBLEMS: &[&str] = &[
    "blocked", "brakuje", "breaks", "broke", "broken", "bug", "caia", "casse", "caused", "crash*", "duplicat*",
    "echou*", "eroare*", "erreur*", "erro", "error*", "erros", "esueaza", "failed", "failing", "fails", "failure*",
    "falhando", "falhava", "falhou", "falla", "fallaba", "fallan", "fallisce", "fallito", "fallo", "fehler*",
    "fehlschlag*", "fehlt*", "flackert*", "flaky", "gagal", "hangs", "happened", "hata*", "hiba*", "hung", "issue", "issues", "kaputt",
    "leak*", "lento", "lost", "mislukt*", "missing", "nie dziala*", "outage", "pada", "padal*", "pica", "plante*",
    "probleem", "problem*", "problema*", "probleme*", "re-rendered", "reason", "rerender*", "slow", "slower", "stuck",
    "timed out", "was wrong", "were wrong", "werkt niet", "wrong", "zawodzi*", "zepsut*", "не работал*", "ошибк*",
    "падал*", "сломал*",
];

/// Verbs that, after a negation, narrate a failure.
#[rustfmt::skip]
pub(super) const FAILING_VERBS: &[&str] = &[
    "build", "compil*", "dziala*", "exist*", "find", "found", "funcion*", "funktion*", "funziona*", "gehen", "geht",
    "lauft", "load*", "marche", "match*", "merge", "pass*", "passa*", "passe*", "przechodz*", "run", "start*", "trec",
    "trece", "va", "werk*", "work*", "working",
];

/// Words of advice: nothing was decided.
#[rustfmt::skip]
pub(super) const ADVICE: &[&str] = &[
    "aconsej*", "als je", "consid*", "consigli*", "could", "daca vrei", "empfehl*", "envisag*", "if you", "istersen*",
    "jesli chcesz", "maybe", "might", "oner*", "perhaps", "polec*", "propose", "raad", "recom*", "se quiser", "se vuoi",
    "should", "si quieres", "si tu", "si vous", "suger*", "suggerisco", "suggest*", "wenn du", "wenn sie", "you can",
    "you could", "you may", "если хоч*", "можете", "рекоменд*", "совет*",
];

/// What begins an order, an example or advice, and no reason.
#[rustfmt::skip]
pub(super) const ASIDES: &[&str] = &[
    "aber", "below", "bitte", "bspw", "but", "covers", "describes", "documents", "e.g", "etwa", "explains", "for example", "for instance", "here's", "however", "if you", "let's", "like", "lists", "n'hesite", "notes", "par exemple", "per esempio",
    "please", "pls", "por ejemplo", "por exemplo", "por favor", "prosze", "provides", "s'il te plait", "s'il vous plait", "see", "such as", "te rog", "zum beispiel", "например", "пожалуйста",
];

/// Words of who reports what happens.
pub(super) const OBSERVING: &[&str] = &[
    "get", "got", "looks", "saw", "see", "seems", "still", "tried", "try", "trying",
];

/// Words that announce a list.
pub(super) const LISTS: &[&str] = &[
    "changes", "details", "files", "issues", "notes", "options", "results", "steps", "summary",
];

/// What goes on with a narration, and begins no choice.
#[rustfmt::skip]
pub(super) const GOING_ON: &[&str] = &[
    "aber", "but", "dar", "however", "jedoch", "ma", "option", "opcion", "variante", "maar", "mais", "mas", "ok", "okay", "pero", "so", "also", "currently", "actually", "still", "но",
];

/// What begins a condition, a step or a remark, and no choice.
#[rustfmt::skip]
pub(super) const CONDITIONS: &[&str] = &[
    "after", "als", "apres", "approach", "before", "bevor", "cuando", "daca", "despues", "falls", "if", "jesli", "nachdem", "note", "once", "opcion", "option", "optie", "opzione", "variante", "quand", "quando", "se", "si", "wenn",
    "после", "если",
];

/// Verbs of steps that the agent tells the user to take.
#[rustfmt::skip]
pub(super) const STEPS: &[&str] = &[
    "align", "avoid", "check", "clear", "click", "close", "consider", "copy", "ensure", "enter", "make", "treat", "go", "hard-refresh", "log", "navigate", "open", "paste", "press", "refresh", "reload", "reopen", "restart", "run",
    "scroll", "sign", "test", "try", "type", "verify", "visit",
];

/// What something is that was there before the work.
pub(super) const EARLIER: &[&str] = &[
    "earlier",
    "former",
    "old",
    "original",
    "originally",
    "previous",
    "previously",
];

/// Verbs that narrate how it was.
pub(super) const NARRATING: &[&str] = &[
    "called", "did", "didn't", "had", "relied", "used", "was", "wasn't", "were", "weren't",
];

/// Words of a reason that names a limit, a need or a consequence.
#[rustfmt::skip]
pub(super) const RATIONALES: &[&str] = &[
    "alleen", "allow*", "already", "always", "anders", "anymore", "better", "bloc*", "block*", "blokk*", "bloq*",
    "brauch*", "can", "can't", "cannot", "cheaper", "costs", "could", "deja", "demais", "demasiado", "deprecated",
    "doar", "doesn't", "don't", "easier", "either", "erlaub*", "every", "expensive", "faster", "faut", "forbid*",
    "geen", "has no", "have no", "impossible", "inaczej", "interd*", "isn't", "kein", "keine", "laat", "lasst", "less",
    "limit*", "longer", "mais", "mas", "mehr", "more", "muss", "must", "nao", "need*", "never", "nicht", "nie", "niet",
    "no", "nobody", "non", "not", "nu", "numai", "nur", "only", "otherwise", "own", "pas", "per", "permet*", "permit*",
    "piu", "plus", "prea", "refus*", "rejects", "sadece", "same", "seulement", "should", "simpler", "sin", "slow",
    "solo", "sonst", "sowieso", "survives", "te", "than", "that way", "this way", "too", "trop", "troppo", "twice",
    "tylko", "until", "verbiet*", "way", "wiecej", "without", "won't", "would", "yalnizca", "yalnızca", "yok", "za",
    "zbyt", "zu", "иначе", "не", "нельзя", "нет", "слишком", "только",
];

/// Verbs by which a part of a sentence is a clause.
#[rustfmt::skip]
pub(super) const FINITE: &[&str] = &[
    "are", "aren't", "au", "aurait", "beda", "braucht", "byl", "byla", "byly", "c'e", "can", "can't", "cannot", "could",
    "deve", "did", "didn't", "do", "does", "doesn't", "doit", "don't", "era", "es", "est", "esta", "estan", "estao",
    "este", "etait", "faut", "foi", "gibt", "ha", "haben", "had", "hanno", "has", "hat", "hatte", "have", "hay",
    "hebben", "heeft", "is", "isn't", "ist", "jest", "kan", "kann", "konnen", "kunnen", "lauft", "maja", "moet",
    "moeten", "moga", "moze", "muss", "mussen", "must", "n'a", "n'est", "need", "needs", "ont", "peut", "peuvent",
    "poate", "pode", "podem", "possono", "pot", "puede", "pueden", "puo", "sao", "sarebbe", "serait", "seria", "should",
    "sind", "son", "sono", "sont", "sunt", "tem", "tiene", "tienen", "trebuie", "trzeba", "var", "war", "ware", "waren",
    "was", "wasn't", "were", "will", "wird", "won't", "worden", "wordt", "would", "wurde", "wurden", "yok", "zijn",
    "zou", "будет", "был", "была", "было", "есть", "может", "нельзя", "нет", "нужен", "нужно",
];

/// Who states the circumstances of a choice: "we", "our".
#[rustfmt::skip]
pub(super) const SPEAKERS: &[&str] = &[
    "abbiamo", "avem", "biz", "bizde", "bizim", "c'est", "i", "ich", "je", "mamy", "nasz", "nasza", "nasze", "noastra",
    "noi", "nos", "nosotros", "nossa", "nossas", "nosso", "nostra", "nostro", "nostru", "notre", "nous", "nuestra",
    "nuestro", "ons", "onze", "our", "temos", "tenemos", "unser", "unsere", "we", "we're", "we've", "wij", "wir", "мы",
    "наш", "наша", "наши", "у нас",
];

/// Words before a noun, and pronouns of things.
#[rustfmt::skip]
pub(super) const DETERMINERS: &[&str] = &[
    "a", "all", "das", "de", "der", "die", "el", "es", "gli", "het", "i", "il", "it", "it's", "its", "l'", "la", "las",
    "le", "les", "lo", "los", "o", "os", "that", "that's", "the", "there", "they", "this",
];

/// Between a reason label and what it explains: "reason for the table".
pub(super) const ABOUT: &[&str] = &[
    "a", "de", "della", "del", "do", "da", "for", "fur", "icin", "para", "pentru", "per", "pour", "voor",
    "dla", "для",
];

/// Numbers that announce a list: "two things: …".
#[rustfmt::skip]
pub(super) const NUMERALS: &[&str] = &[
    "cinq", "cuatro", "deux", "deze", "diese", "dois", "dos", "drei", "drie", "duas", "due", "dwie", "following",
    "four", "mehrere", "quatre", "quatro", "quattro", "several", "siguientes", "these", "three", "tre", "trei", "tres",
    "trois", "trzy", "twee", "two", "uc", "vier", "zwei", "два", "две", "три",
];

/// Words of a request to explain something.
#[rustfmt::skip]
pub(super) const INQUIRIES: &[&str] = &[
    "comment", "como funciona", "describe", "erklar*", "explain", "explica", "explique", "how", "jak dziala",
    "pourquoi", "show me", "spiega*", "tell me", "uitleg*", "warum", "what", "why", "wie", "wyjasnij", "объясни*",
    "почему",
];

/// Names of a decision in a heading, a label or a table.
#[rustfmt::skip]
pub(super) const DECISION_LABELS: &[&str] = &[
    "choice", "choices", "decided", "decision", "decisions", "design decision", "design decisions", "key decisions", "key decision",
    "entscheidung", "entscheidungen", "entschieden", "wahl", "choix", "decisiones", "decisione", "decisioni", "decisao", "decisoes",
    "escolha", "escolhas", "eleccion", "scelta", "scelte", "decyzja", "decyzje", "wybor", "beslissing", "beslissingen", "besluit",
    "keuze", "keuzes", "decizie", "decizii", "alegere", "karar", "kararlar", "secim", "решение", "решения", "выбор", "决定", "决策",
    "选择", "決定", "判断", "設計判断", "方針", "technical decisions", "trade-offs", "tradeoffs",
];

/// Names of a reason in a heading, a label or a table.
#[rustfmt::skip]
pub(super) const REASON_LABELS: &[&str] = &[
    "because", "rationale", "reason", "reasons", "the reason", "reasoning", "why", "why not", "begrundung", "grund", "grunde", "warum",
    "weshalb", "justification", "motif", "pourquoi", "raison", "motivo", "motivos", "por que", "porque", "razon", "razao", "justificacion",
    "motivazione", "motivi", "perche", "ragione", "motivacao", "justificativa", "dlaczego", "powod", "powody", "uzasadnienie", "reden",
    "redenen", "waarom", "de ce", "motiv", "motivul", "motive", "neden", "nedeni", "sebep", "gerekce", "gerekçe", "почему", "причина",
    "обоснование", "原因", "理由", "为什么", "背景", "根拠",
];

/// Chinese: before a reason.
pub(super) const CHINESE_CAUSES: &[&str] = &[
    "因为",
    "由于",
    "因為",
    "由於",
    "毕竟",
    "原因是",
    "理由是",
    "考虑到",
    "鉴于",
];
/// Chinese: before what is avoided or gained.
pub(super) const CHINESE_PURPOSES: &[&str] = &[
    "免得", "以免", "以便", "否则", "不然", "避免", "为了", "這樣", "这样", "好让",
];
/// Chinese: before a consequence.
pub(super) const CHINESE_CONSEQUENCES: &[&str] = &["所以", "因此", "因而", "于是", "故而"];
/// Chinese: a choice.
#[rustfmt::skip]
pub(super) const CHINESE_CHOICES: &[&str] = &[
    "用", "采用", "选", "保留", "沿用", "没有", "没用", "不用", "不要", "不做", "不加", "不写", "不改", "不再", "而不是", "而非", "放弃", "只", "统一",
    "保持", "维持", "不在", "没在", "改成", "改为", "换成", "固定", "先", "限制", "默认", "没加", "没写", "没改", "没动", "没做", "继续", "仍", "还是", "存", "放在", "放到",
];
/// Chinese and Japanese: what was decided for or against.
#[rustfmt::skip]
pub(super) const UNSPACED_DECIDED: &[&str] = &[
    "没用", "不用", "没有用", "没有加", "没有改", "不再", "而不是", "而非", "放弃", "保留", "沿用", "改用", "改成", "换成", "采用", "选了", "选用", "没动", "没改", "没加",
    "ではなく", "じゃなく", "やめ", "残し", "採用", "使わ", "せずに", "ませんでした", "ことにし", "見送",
];
/// Chinese: a failure.
pub(super) const CHINESE_PROBLEMS: &[&str] = &[
    "失败",
    "报错",
    "出错",
    "崩溃",
    "没有通过",
    "没通过",
    "超时",
    "丢失",
    "问题是",
    "卡住",
];

/// Japanese: after a reason, before the choice.
pub(super) const JAPANESE_CAUSES: &[&str] = &[
    "ため、",
    "ので、",
    "から、",
    "おかげで、",
    "せいで、",
    "ように、",
    "ので",
    "ため",
    "からこそ",
    "ことから、",
    "都合で、",
];
/// Japanese: at the end of a reason.
#[rustfmt::skip]
pub(super) const JAPANESE_ENDINGS: &[&str] = &[
    "からです", "からだ", "ためです", "ためだ", "ためでした", "からでした", "ので", "ため", "から", "のです", "おかげです", "理由です", "しまうためです",
];
/// Japanese: a choice.
#[rustfmt::skip]
pub(super) const JAPANESE_CHOICES: &[&str] = &[
    "ではなく", "じゃなく", "代わりに", "かわりに", "使", "採用", "選", "やめ", "残し", "残して", "ませんでした", "いません", "ままに", "ままで", "だけ",
    "にしました", "にした", "ことにし", "避け", "見送", "外し", "固定", "統一", "しないで", "せずに", "にして", "維持", "据え置", "限定", "変えて", "揃え", "入れず",
];
/// Japanese: a failure.
pub(super) const JAPANESE_PROBLEMS: &[&str] = &[
    "失敗",
    "エラー",
    "落ち",
    "壊れ",
    "通りません",
    "動きません",
    "不具合",
    "バグ",
];
