//! Forms of words: the parts of a compound, stems with their endings, nouns that are made of verbs.

/// Endings of nouns that are made of verbs.
#[rustfmt::skip]
const NOUN_ENDINGS: &[&str] = &["ment", "ments", "iement", "ation", "ations", "ung", "ungen", "cion", "ciones", "cao", "coes", "zione", "zioni", "enie", "enia", "iegue", "iegues", "ение", "ения", "ание", "ания"];

/// A word and its parts: `force-push`, `force`, `push`. Compounds such as `end-to-end` and `sign-off` have no parts.
pub(in crate::contract) fn parts(folded: &str) -> impl Iterator<Item = String> {
    const PARTICLES: &[&str] = &["off", "down", "out", "up", "in", "on", "end", "over"];
    let is_path = folded.contains(['/', '.', '_']);
    let is_compound = !is_path
        && (folded.matches('-').count() >= 2
            || folded
                .rsplit_once('-')
                .is_some_and(|(_, last)| PARTICLES.contains(&last)));
    let parts = folded
        .split(['/', '-', '.', '_'])
        .filter(move |part| !is_compound && part.len() >= 2);
    parts.map(str::to_owned).chain([folded.to_owned()])
}

/// Whether a word is a form of one of these stems. A dot marks a whole word; stems in other scripts match anywhere.
pub(in crate::contract) fn is_form_of(word: &str, stems: &[&str]) -> bool {
    stems.iter().any(|stem| match stem.strip_suffix('.') {
        Some(whole) => word == whole,
        None if !stem.starts_with(|letter: char| letter.is_ascii()) => word.contains(stem),
        None => has_stem(word, &[stem]),
    })
}

/// Nouns that begin like a verb.
const NOUNS: &[&str] = &[
    "dropdown",
    "dropdowns",
    "droplet",
    "droplets",
    "dropbox",
    "dropzone",
];

fn has_stem(word: &str, stems: &[&str]) -> bool {
    if NOUNS.contains(&word) {
        return false;
    }
    stems
        .iter()
        .any(|stem| word.strip_prefix(stem).is_some_and(|rest| rest.len() <= 5))
}

/// Whether a word is a noun or a verb of the third person by its ending: "routes", "it deletes" order nothing.
pub(in crate::contract) fn is_no_order(word: &str, stems: &[&str]) -> bool {
    const ENGLISH: &[&str] = &[
        "delet", "remov", "merg", "releas", "purg", "wipe", "eras", "chang", "updat", "creat", "push",
        "publish", "flush",
    ];
    // "Deployment", "Veröffentlichung", "despliegue"
    let is_noun = |stem: &&str, rest: &str| {
        NOUN_ENDINGS
            .iter()
            .any(|ending| word.ends_with(ending) && !stem.ends_with(ending) && rest.len() + 3 > ending.len())
    };
    stems.iter().any(|stem| match word.strip_prefix(stem) {
        Some(rest) if rest.len() >= 2 && is_noun(stem, rest) => true,
        // "Löscht", "verwijdert"
        Some("s" | "t") => true,
        Some("es") => ENGLISH.contains(stem),
        _ => false,
    })
}
