//! The words by which standing rules, choices and open ends are known: folded, in the order of languages.

/// A sentence with one of these holds beyond its task.
#[rustfmt::skip]
pub(super) const STANDING: &[&str] = &[
    "from now on", "going forward", "from here on", "as a rule", "as a general rule", "in general", "remember for this", "remember that",
    "remember for the", "for future reference", "for the future", "in the future", "in this repo", "in this repository", "in this project",
    "in this codebase", "in our codebase", "our convention", "house rule", "team rule", "we always", "we never", "ever again",
    "no exceptions", "in every service", "in any service", "tests ever", "code ever", "note for later",
    "ab jetzt", "ab sofort", "von jetzt an", "kunftig", "in zukunft", "grundsatzlich", "generell", "merk dir", "in diesem projekt",
    "in diesem repo", "wir machen immer", "wir nehmen immer", "wir nutzen immer", "ausnahmslos", "immer in allen",
    "desormais", "a partir de maintenant", "dorenavant", "en regle generale", "retiens", "a l'avenir", "dans ce projet", "dans ce depot",
    "sans exception",
    "a partir de ahora", "de ahora en adelante", "como regla", "en general", "recuerda que", "en este proyecto", "en este repositorio",
    "en ningun servicio", "en ningun lugar", "sin excepcion", "en adelante",
    "a partir de agora", "de agora em diante", "daqui em diante", "como regra", "neste projeto", "lembra que", "lembre que",
    "d'ora in poi", "da ora in poi", "in futuro", "in questo progetto", "come regola", "ricorda che",
    "vanaf nu", "voortaan", "in dit project", "als regel",
    "de acum inainte", "pe viitor", "in acest proiect", "ca regula", "tine minte",
    "od teraz", "na przyszlosc", "w tym projekcie", "zapamietaj",
    "отныне", "впредь", "с этого момента", "на будущее", "в этом проекте", "запомни", "как правило",
];

/// The same in Chinese and Japanese.
#[rustfmt::skip]
pub(super) const STANDING_UNSPACED: &[&str] = &[
    "以后", "从现在开始", "今后", "记住", "一律", "在这个项目", "本项目", "今後", "これからは", "このプロジェクトで", "覚えておいて", "常に",
];

/// A sentence with one of these names what was not chosen.
#[rustfmt::skip]
pub(super) const INSTEAD: &[&str] = &[
    "instead of", "rather than", "over a", "over the", "in favor of", "in favour of", "in place of",
    "statt", "anstatt", "anstelle", "plutot que", "au lieu de", "en lugar de", "en vez de", "antes que", "em vez de", "ao inves de",
    "invece di", "piuttosto che", "in plaats van", "in loc de", "zamiast", "вместо", "а не",
];

/// A sentence with one of these says that something was decided.
#[rustfmt::skip]
pub(super) const CHOSEN: &[&str] = &[
    "decision", "decided", "i chose", "we chose", "chose", "went with", "go with", "opted for", "settled on", "picked",
    "entschieden", "entscheidung", "gewahlt", "wir speichern", "j'ai choisi", "nous avons choisi", "j'ai opte", "decide de", "elegi", "elegimos",
    "decidi", "decidimos", "opte por", "optamos por", "escolhi", "escolhemos", "ho scelto", "abbiamo scelto", "gekozen", "am ales",
    "wybralem", "zdecydowalem", "решил", "решили", "выбрал", "выбрали",
];

/// The same in Chinese and Japanese.
#[rustfmt::skip]
pub(super) const INSTEAD_UNSPACED: &[&str] = &["而不是", "决定", "选择", "選択", "ではなく", "代わりに", "にしました", "採用"];

/// A closing sentence with one of these leaves work outright.
#[rustfmt::skip]
pub(crate) const LEFT: &[&str] = &[
    "not done", "not yet", "still open", "still need", "still needs", "still needed", "still have to", "still has to", "still use", "still uses",
    "still list", "still lists", "is still", "are still", "must be", "needs to be", "open question", "undecided", "todo", "to do", "next step", "is missing", "are missing",
    "left to do", "what is left", "what's left", "remaining", "could not test", "couldn't test", "not tested", "untested", "not migrated",
    "follow up", "follow-up", "for now",
    "offen", "fehlt", "fehlen", "muss noch", "mussen noch", "noch nicht", "als nachstes", "nachster schritt", "ungeklart",
    "il reste", "reste a", "pas encore", "a faire", "prochaine etape", "manque encore",
    "falta", "faltan", "pendiente", "pendientes", "queda por", "quedan por", "todavia no", "aun no", "siguiente paso",
    "ainda nao", "ainda falta", "por fazer", "proximo passo", "manca ancora", "resta da", "nog niet", "ontbreekt", "mai trebuie", "lipseste",
    "осталось", "еще не", "пока не", "следующий шаг",
];

/// The same in Chinese and Japanese.
#[rustfmt::skip]
pub(crate) const LEFT_UNSPACED: &[&str] = &["还没", "尚未", "待办", "待确认", "下一步", "まだ", "残って", "残り", "未対応"];

/// A sentence with one of these offers more work or asks what to do, and leaves nothing.
#[rustfmt::skip]
pub(super) const OFFERS: &[&str] = &[
    "let me know", "if you want", "if you like", "if you'd like", "would you like", "do you want", "shall i", "should i", "want me to", "happy to",
    "sag bescheid", "wenn du mochtest", "soll ich", "mochtest du", "dis moi", "si tu veux", "si vous voulez", "veux tu", "dime si",
    "si quieres", "quieres que", "se quiser", "quer que", "fammi sapere", "se vuoi", "laat het weten", "spune mi",
    "дай знать", "если хочешь", "если хотите",
];
