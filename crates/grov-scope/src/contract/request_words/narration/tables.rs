//! Words of clauses that order nothing, in the languages with spaces between words, folded.

/// Words that join clauses.
#[rustfmt::skip]
pub(super) const JOINS: &[&str] = &[
    "and", "then", "but", "so", "or", "und", "dann", "aber", "oder", "et", "puis", "mais", "ou", "apoi", "dar", "sau", "y", "luego", "pero", "poi", "ma", "mas", "ale", "maar", "dan", "e",
    "и", "а", "но", "затем", "потом", "ve", "ama", "albo", "lub", "potem",
];

/// Words that begin a clause about a circumstance.
#[rustfmt::skip]
pub(super) const SUBORDINATORS: &[&str] = &[
    "when", "whenever", "if", "unless", "wenn", "falls", "sobald", "nachdem", "wahrend", "seitdem", "bevor", "weil", "beim", "quand", "lorsque", "lorsqu'on", "lorsqu'un", "cuando", "mientras", "al",
    "quando", "mentre", "enquanto", "ao", "caso", "cand", "daca", "kiedy", "gdy", "jesli", "jezeli", "podczas", "als", "wanneer", "nadat", "terwijl", "zodra", "voordat", "bij",
    "когда", "если", "пока", "при", "после", "eger",
];

/// The same, if a subject follows.
#[rustfmt::skip]
pub(super) const WEAK: &[&str] = &[
    "after", "before", "since", "until", "while", "once", "as", "because", "till", "si", "se", "sinds", "omdat", "antes", "avant", "prima", "inainte", "zanim",
];
#[rustfmt::skip]
pub(super) const WEAK_SUBJECTS: &[&str] = &[
    "i", "we", "you", "they", "he", "she", "users", "i've", "we've", "je", "j'ai", "on", "tu", "un", "uno", "alguien", "ik", "er", "eu", "io", "yo", "lo", "la", "il", "le", "el", "ca",
];

/// Words after a subordinator that make it a mere remark: "if possible".
#[rustfmt::skip]
pub(super) const IDIOMS: &[&str] = &[
    "possible", "needed", "necessary", "so", "you", "not", "wanted", "ok", "okay", "any", "required", "applicable", "ready", "done", "moglich", "notig", "du", "sie", "ihr", "ja", "nicht", "fertig", "tu", "vous",
    "puedes", "quieres", "hace", "puoi", "vuoi", "puder", "quiser", "poti", "vrei", "mozesz", "chcesz", "trzeba", "je", "nodig", "mogelijk", "можешь", "хочешь", "нужно", "надо", "возможно",
];

/// Verbs and words of states with which a subordinate clause ends: "if CI is green push it".
#[rustfmt::skip]
pub(super) const STATES: &[&str] = &[
    "is", "are", "was", "were", "pass", "passes", "passed", "works", "work", "worked", "green", "ok", "okay", "done", "ready", "succeeds", "succeed", "finished", "finishes", "exists", "exist", "fails", "fail", "returns", "runs", "empty", "fine", "good",
    "ist", "sind", "war", "lauft", "laufen", "funktioniert", "passt", "geht", "grun", "fertig", "durch", "klappt", "est", "sont", "marche", "marchent", "passe", "passent", "fonctionne", "vert", "verte", "verts",
    "esta", "estan", "son", "funciona", "pasan", "pasa", "verde", "verdes", "listo", "e", "sono", "va", "vanno", "passano", "passa", "funzionano", "funziona", "pronto", "esta", "estao", "sao", "passar", "passarem",
    "este", "sunt", "merge", "trec", "gata", "jest", "sa", "dziala", "przejda", "przechodza", "gotowe", "zielone", "zijn", "werkt", "groen", "klaar", "slagen", "готов", "готово", "пройдут", "зеленый", "зелёный", "зеленые", "работает",
];

/// Words that address the agent.
#[rustfmt::skip]
pub(super) const ASKING_POLITELY: &[&str] = &[
    "please", "pls", "plz", "kindly", "bitte", "stp", "svp", "favor", "porfa", "prego", "rog", "prosze", "alsjeblieft", "graag", "пожалуйста", "плиз", "lutfen",
];

/// Words for the user as the one who does something.
#[rustfmt::skip]
pub(super) const FIRST_PERSON: &[&str] = &[
    "myself", "ourselves", "ich", "wir", "je", "j'ai", "j'aurai", "moi-meme", "nous-memes", "yo", "nosotros", "io", "eu", "sam", "ik", "wij", "я", "мы", "сам", "сама", "ben", "biz", "kendim",
];

/// Words that are of the first person only in such places: Dutch "je" and the "eu" of a region are not.
#[rustfmt::skip]
pub(super) const BEFORE_FIRST_PERSON: &[&str] = &[
    "que", "quand", "si", "demain", "ensuite", "apres", "plus", "tard", "deja", "apoi", "depois", "luego", "despues", "manana", "public", "amanha", "maine", "o", "il", "poi", "dopo", "domani", "mas", "mais", "moi", "isso", "asta", "eso",
];
pub(super) const OTHER_MEANINGS: &[&str] = &[
    "moet", "kan", "kunt", "mag", "hoeft", "zou", "error", "errors", "region", "cluster", "bucket",
];

/// Words that say that the user and nobody else does it.
#[rustfmt::skip]
pub(super) const ALONE: &[&str] = &[
    "myself", "ourselves", "selbst", "selber", "zelf", "moi-meme", "nous-memes", "mismo", "misma", "stesso", "stessa", "mesmo", "mesma", "insumi", "singur", "samemu", "сам", "сама", "kendim",
];

/// Words of the first person with which it asks for something.
#[rustfmt::skip]
pub(super) const WISHES: &[&str] = &[
    "will", "mochte", "mochten", "wollen", "brauche", "brauchen", "muss", "mussen", "sollte", "sollten", "soll", "sollen", "kann", "konnen", "konnten", "hatte", "wurde", "wurden", "bitte", "erlaube", "sagte", "meine", "finde", "glaube", "denke", "gern", "gerne",
    "veux", "voudrais", "aimerais", "besoin", "dois", "peux", "souhaite", "demande", "faut", "pense", "veut",
    "quiero", "queremos", "necesito", "necesitamos", "quisiera", "gustaria", "debemos", "tenemos", "podemos", "pido", "creo",
    "voglio", "vorrei", "vogliamo", "bisogno", "dobbiamo", "devo", "possiamo", "chiedo", "penso",
    "quero", "queria", "preciso", "precisamos", "gostaria", "devemos", "temos", "peco", "acho",
    "vreau", "vrem", "trebuie", "as", "nevoie", "putem", "rog", "cred",
    "wil", "willen", "moet", "moeten", "kunnen", "kan", "nodig", "zou", "vraag", "graag", "denk", "wilde",
    "хочу", "хотим", "нужно", "надо", "прошу", "можем", "должны", "думаю", "istiyorum", "istiyoruz", "lazim", "want", "need", "like",
];

/// Words for what happens again and again, which nobody orders.
#[rustfmt::skip]
pub(super) const REPEATED: &[&str] = &[
    "every time", "each time", "jedes mal", "jedesmal", "chaque fois", "cada vez", "ogni volta", "toda vez", "sempre que", "de fiecare data", "za kazdym razem", "elke keer", "каждый раз", "her seferinde",
];

/// Words before a relative clause of the first person.
#[rustfmt::skip]
pub(super) const RELATIVE: &[&str] = &[
    "die", "der", "das", "den", "was", "wo", "que", "qui", "che", "care", "dat", "wat", "который", "которую", "которые", "которое", "что", "wie", "quand", "cuando", "quando", "wenn", "als",
];

/// Verbs of the third person for what somebody wants, tries or may do.
#[rustfmt::skip]
pub(super) const OTHERS: &[&str] = &[
    "will", "mochte", "versucht", "wollte", "wird", "werden", "wurde", "kann", "konnen", "konnte", "darf", "durfen", "soll",
    "veut", "veulent", "vont", "va", "peut", "peuvent", "tente", "essaie", "pourrait",
    "quiere", "quieren", "puede", "pueden", "intenta", "intentan", "vuole", "vogliono", "puo", "possono", "prova",
    "quer", "querem", "vai", "vao", "pode", "podem", "tenta", "vrea", "vor", "poate", "incearca", "chce", "chca", "moze", "moga", "probuje", "bedzie", "beda",
    "wil", "gaat", "gaan", "kan", "kunnen", "probeert", "zal", "хочет", "хотят", "может", "могут", "пытается", "будет", "istiyor", "isteyen",
];

/// Subjects with which such a verb may ask for something.
#[rustfmt::skip]
pub(super) const DIRECTED: &[&str] = &[
    "you", "i", "we", "du", "sie", "ihr", "man", "ich", "wir", "on", "tu", "vous", "je", "se", "si", "usted", "ya", "voce", "vc", "ja", "jij", "ik", "men", "u", "to", "ты", "вы", "я", "the", "yes", "ok", "que", "now", "jetzt", "as",
];

/// Particles that make an order of such a verb: "die Tabelle kann weg".
pub(super) const AWAY: &[&str] = &["weg", "raus", "gehen", "partir", "irse"];

/// Words for a past time, or for a mistake.
#[rustfmt::skip]
pub(super) const PAST: &[&str] = &[
    "yesterday", "accidentally", "mistakenly", "last week", "last month", "last night", "by accident", "by mistake", "gestern", "neulich", "versehentlich", "letzte woche", "aus versehen", "avant-hier", "la semaine derniere", "par erreur",
    "ayer", "anoche", "la semana pasada", "por error", "sin querer", "la settimana scorsa", "per sbaglio", "per errore", "ontem", "semana passada", "sem querer", "por engano", "saptamana trecuta", "din greseala",
    "wczoraj", "przypadkiem", "przez przypadek", "gisteren", "vorige week", "per ongeluk", "вчера", "случайно", "на прошлой неделе", "dun", "yanlislikla",
];

/// Stems of verbs that make something.
#[rustfmt::skip]
pub(super) const BUILD: &[&str] = &[
    "add.", "adding", "implement", "creat", "writ", "build", "make.", "design", "introduc", "develop", "provid", "cod", "need.", "needs.", "want.", "includ", "extend", "support", "show", "expos", "generat", "missing", "test.",
    "fug", "hinzufug", "hinzu.", "erstell", "schreib", "bau.", "baue", "entwickl", "erganz", "brauch", "zeig", "einbau", "ajout", "cre.", "cree", "ecri", "developp", "ajoute", "fais.",
    "anad", "agreg", "implementa", "crea", "escrib", "haz.", "desarroll", "aggiung", "scriv", "svilupp", "adicion", "cria", "crie", "escrev", "faz.", "faca.", "adaug", "creeaza", "scrie", "fa.", "construi",
    "dodaj", "stworz", "utworz", "napisz", "zaimplement", "zrob", "dopisz", "voeg", "toevoeg", "maak", "schrijf", "bouw", "добав", "сдела", "напиш", "созда", "реализу", "ekle", "yaz.", "olustur",
];

/// Stems of words for parts of software that do something for its users.
#[rustfmt::skip]
pub(super) const FEATURES: &[&str] = &[
    "endpoint", "button", "route", "page.", "form.", "dialog", "modal", "feature", "function", "method", "option", "api.", "apis.", "subcommand", "command.", "flag.", "handler", "hook", "screen", "view.", "link.", "menu", "action.", "permission", "role.", "way.", "ability", "possibility", "confirmation", "mutation", "resolver", "controller", "component", "test.", "tests.",
    "script.", "toast", "checkbox", "icon", "shortcut", "helper", "service.", "logic", "middleware", "webhook",
    "endpunkt", "knopf", "schaltflach", "seite", "formular", "funktion", "methode", "moglichkeit", "bestatigung", "menupunkt", "befehl", "route", "bouton", "fonction", "formulaire", "commande", "boite", "boton", "pagina", "funcion", "formulario", "comando", "opcion", "ruta",
    "pulsant", "bottone", "funzion", "rotta", "conferma", "botao", "funcao", "funcionalidade", "rota", "confirmacao", "buton", "functi", "ruta", "pagin", "przycisk", "funkcj", "stron", "formularz", "koncowk", "knop", "functie", "formulier", "bevestig", "scherm",
    "эндпоинт", "кнопк", "функци", "метод", "страниц", "форм", "ручк", "команд", "buton", "sayfa", "fonksiyon", "uc.",
];
