//! Whether a verb of a request is about code or documents: "remove the unused import" asks for no removal of data.

use super::JOINING;
use crate::names::is_path;
use crate::words::Word;

/// The most words after a verb, and before one at the end of a clause, that belong to its object.
const AFTER: usize = 8;
const BEFORE: usize = 6;

/// Stems of words for parts of code, documents and user interfaces. A dot marks a whole word.
#[rustfmt::skip]
const CODE: &[&str] = &[
    "import", "function", "method", "class", "variable", "constant", "comment", "docstring", "button", "form.", "forms", "field", "page", "component", "warning", "typo", "spinner", "header", "footer", "style", "css",
    "route", "endpoint", "param", "argument", "option", "flag.", "flags", "hook", "prop.", "props", "state.", "export", "readme", "section", "chapter", "paragraph", "sentence", "statement", "whitespace", "semicolon",
    "duplicat", "string", "label", "icon", "link", "menu", "modal", "dialog", "tooltip", "event", "line.", "lines", "code.", "helper", "wrapper", "type.", "types", "interface", "logic", "condition", "branch.of", "loop",
    "text.", "texts", "wording", "color", "colour", "font", "layout", "docs.", "documentation", "changelog", "notes", "animation", "handler", "middleware", "validation", "retry", "timeout", "script.", "widget", "screen", "lock.", "locks.", "mutex", "semaphore", "buffer", "fixture", "mock",
    // German, Dutch
    "funktion", "methode", "klasse", "kommentar", "knopf", "schaltflach", "formular", "seite", "komponent", "warnung", "zeile", "abschnitt", "absatz", "satz", "tippfehler", "textes", "farbe", "dokumentation", "doppelt",
    "functie", "klas.", "knop", "formulier", "pagina", "waarschuwing", "regel", "paragraaf", "typefout", "tekst", "kleur",
    // French, Spanish, Portuguese, Italian, Romanian
    "fonction", "classe", "commentaire", "bouton", "formulaire", "composant", "avertissement", "ligne", "phrase", "faute", "texte", "couleur", "doublon",
    "funcion", "metodo", "clase", "comentari", "boton", "formulario", "componente", "advertencia", "linea", "parrafo", "errata", "texto", "enlace",
    "funcao", "funcoes", "botao", "botoes", "aviso", "linha", "paragrafo", "rotulo",
    "funzion", "commento", "commenti", "pulsant", "bottone", "avviso", "righe", "riga", "refuso", "testo", "colore",
    "functi", "metoda", "clasa", "buton", "avertisment", "linie", "linii", "paragraf", "culoare",
    // Polish
    "funkcj", "klas", "komentarz", "przycisk", "formularz", "stron", "komponent", "ostrzez", "linij", "akapit", "literowk", "kolor",
    "импорт", "функци", "метод", "класс", "комментар", "кнопк", "форм", "страниц", "компонент", "строк", "опечатк",
    "导入", "函数", "方法", "变量", "注释", "按钮", "表单", "页面", "组件", "代码", "样式", "文案", "インポート", "関数", "メソッド", "変数", "コメント", "ボタン", "フォーム", "ページ", "コンポーネント", "コード", "スタイル", "文言",
];

/// Stems of words for data, services and machines, which make the object one of them: "the comments table".
#[rustfmt::skip]
const SERVICES: &[&str] = &[
    "database", "db.", "table", "bucket", "server", "branch", "tag.", "tags", "volume", "container", "pod", "cluster", "record", "row", "queue", "topic", "index", "image", "repo", "env.", "environment", "instance", "droplet", "dns", "secret",
    "user", "account", "data", "stack", "deployment", "release.", "releases", "namespace", "node", "vm", "machine", "cache", "redis", "postgres", "mongo", "stash", "snapshot", "backup", "log.", "logs", "package", "disk", "partition", "preview", "staging", "prod", "cron",
    "datenbank", "tabell", "tabla", "tabela", "base", "banco", "baza", "donnees", "datos", "dados", "dati", "datele", "dane", "数据", "库", "表.", "テーブル", "データ", "таблиц", "баз",
];

/// Words that begin another clause.
#[rustfmt::skip]
const PURPOSE: &[&str] = &[
    "so", "because", "that", "which", "before", "after", "when", "if", "until", "damit", "weil", "dass", "bevor", "wenn", "pour", "parce", "avant", "quand", "para", "porque", "antes", "cuando", "perche", "prima", "quando", "zodat", "omdat", "zeby", "pentru",
];

/// Endings of files with source code or documents.
#[rustfmt::skip]
const SOURCES: &[&str] = &[
    "astro", "c", "cc", "cpp", "cs", "css", "dart", "ex", "exs", "go", "h", "hpp", "hs", "html", "java", "js", "jsx", "kt", "less", "lua", "md", "mdx", "mjs", "php", "py", "rb", "rs", "rst", "scala", "scss", "svelte", "swift", "ts", "tsx", "txt", "vue",
];

/// What the words of a text are about, each looked up once.
pub(super) struct Objects(Vec<Object>);

/// What a word of a text is about.
struct Object {
    is_code: bool,
    is_service: bool,
    is_source: bool,
    is_path: bool,
    is_ascii: bool,
    begins_purpose: bool,
    joins: bool,
    pauses: bool,
}

impl Objects {
    /// Looks up the words of a text.
    pub(super) fn new(words: &[Word<'_>]) -> Self {
        let object = |word: &Word<'_>| Object {
            is_code: is_any(&word.folded, CODE),
            is_service: is_any(&word.folded, SERVICES),
            is_source: is_source(word.raw),
            is_path: is_path(word.raw) || word.raw.contains(['_', '-']) && word.raw.is_ascii(),
            is_ascii: word.raw.is_ascii(),
            begins_purpose: word.is_any(PURPOSE),
            joins: word.is_any(JOINING),
            pauses: word.pauses(),
        };
        Self(words.iter().map(object).collect())
    }

    /// Whether words between two positions name data, a service, a machine or a path.
    pub(super) fn name_thing(&self, from: usize, to: usize) -> bool {
        let words = self.0.get(from..to).unwrap_or_default();
        words.iter().any(|word| word.is_service || word.is_path)
    }

    /// Whether the object of the verb at a position is code or a document.
    pub(super) fn are_code(&self, at: usize) -> bool {
        let Some((before, [verb, after @ ..])) = self.0.split_at_checked(at) else {
            return false;
        };
        let mut object: Vec<&Object> = Vec::new();
        if !verb.pauses {
            for word in after.iter().take(AFTER) {
                // "Publish the crate and remove a.css"
                if word.begins_purpose || word.joins && !object.is_empty() {
                    break;
                }
                object.push(word);
                if word.pauses {
                    break;
                }
            }
        }
        // "Die unbenutzten Importe entfernen"
        if object.is_empty() {
            let near = before.iter().rev().take(BEFORE);
            object.extend(near.take_while(|word| !word.pauses));
        }
        // Languages without spaces have the object and the verb in one word.
        if !verb.is_ascii {
            object.push(verb);
        }
        let has = |holds: fn(&Object) -> bool| object.iter().any(|word| holds(word));
        has(|word| word.is_source) || has(|word| word.is_code) && !has(|word| word.is_service)
    }
}

/// Whether a word is the path of a file with source code or a document.
fn is_source(raw: &str) -> bool {
    is_path(raw)
        && raw
            .rsplit_once('.')
            .is_some_and(|(_, ending)| SOURCES.contains(&ending))
}

fn is_any(word: &str, stems: &[&str]) -> bool {
    stems.iter().any(|stem| match stem.strip_suffix('.') {
        Some(whole) => word == whole,
        None if stem.is_ascii() => word.starts_with(stem),
        None => word.contains(stem),
    })
}
