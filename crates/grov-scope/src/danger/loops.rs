//! Files of the user that a loop or a search replaces in place: recordings, photos, documents, other projects.

use super::destructive::outside_removal;
use super::{EvaluationContext, RISKY, finding};
use crate::normalized_path::NormalizedPath;
use grov_domain::{Finding, Program};

/// Endings of files that were recorded, drawn or written, and are not made again.
#[rustfmt::skip]
const ORIGINALS: &[&str] = &[
    "aac", "aiff", "arw", "avi", "blend", "cr2", "cr3", "dcm", "dng", "doc", "docx", "epub", "fastq", "fid", "fits", "flac", "gpx", "heic", "jpeg", "jpg", "kdbx", "las", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "nef", "nii", "odt", "opus", "orf", "pdf",
    "png", "pptx", "psd", "raw", "rw2", "srt", "tif", "tiff", "wav", "webm", "wma", "wmv", "xcf", "xlsx",
];

/// Stems of words that ask for originals to be replaced.
#[rustfmt::skip]
const REPLACING: &[&str] = &[
    "replac", "overwrit", "in-place", "inplace", "shrink", "compress", "optimi", "resiz", "crop", "rotat", "strip", "renam", "delet", "remov", "instead", "ersetz", "uberschreib", "verklein", "komprim", "umbenenn", "remplac", "ecras", "reduis", "renomm",
    "reemplaz", "sobrescrib", "comprim", "renombr", "substitu", "sobrescrev", "sostitui", "sovrascriv", "rinomin", "inlocu", "suprascri", "redenum", "zastap", "nadpisz", "zmniejsz", "vervang", "overschrijf", "замен", "перезапис", "сожми", "переимен",
    "替换", "覆盖", "压缩", "重命名", "置き換え", "上書き", "圧縮", "degistir", "normali", "watermark", "tag.", "place",
];

/// The finding for originals that a command replaces, or for files outside the project that it edits in place.
pub(super) fn of_command(
    command: &Program,
    source: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    edited_elsewhere(command, source, context).or_else(|| replaced(command, context))
}

/// The finding for `find ~ -exec sed -i …`, and for a list of files outside the project that `xargs` passes to an editor.
fn edited_elsewhere(
    command: &Program,
    source: Option<&Program>,
    context: &EvaluationContext<'_>,
) -> Option<Finding> {
    let edits = |word: &str| {
        word == "-i" || word.starts_with("-i.") || matches!(word, "-pi" | "-pie" | "--in-place" | "-ni")
    };
    let is_editor = |name: &str| matches!(name, "sed" | "gsed" | "perl" | "ruby");
    let searches = matches!(command.name(), "find" | "fd")
        && command.for_each.iter().any(|name| is_editor(name))
        && command.words().any(edits);
    let is_fed = is_editor(command.name())
        && command.words().any(edits)
        && command.through.iter().any(|outer| outer == "xargs");
    let folder = match source {
        _ if searches => command.operands().next()?,
        // `grep -rl old ~/code | xargs sed -i …`
        Some(source) if is_fed && matches!(source.name(), "grep" | "rg" | "ag" | "egrep") => {
            source.operands().nth(1)?
        }
        Some(source) if is_fed && matches!(source.name(), "find" | "fd" | "ls") => {
            source.operands().next()?
        }
        _ => return None,
    };
    let place = NormalizedPath::new(context.root, &context.directory.path(folder)?);
    let reason = format!("Files below {folder}, outside the project, are edited in place");
    outside_removal(&place, context).and_then(|_| finding(RISKY, None, reason))
}

/// The finding for originals that a loop replaces: `for f in *.mp4; do ffmpeg … && mv -f tmp "$f"; done`.
fn replaced(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    #[rustfmt::skip]
    const CONVERTERS: &[&str] = &["mv", "ffmpeg", "convert", "magick", "gs", "sox", "pandoc", "qpdf", "exiftool", "gm", "lame", "flac", "opusenc", "HandBrakeCLI", "cwebp", "avifenc", "iconv"];
    if !CONVERTERS.contains(&command.name()) || context.compiled.request.requests_any(REPLACING) {
        return None;
    }
    let (variable, list, ending) = loop_over(context.line)?;
    // The shell may have put a word of the list in place of the variable.
    let is_variable = |word: &str| {
        let braced = word.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        braced.or_else(|| word.strip_prefix('$')) == Some(variable)
            || list.split_whitespace().any(|one| one == word)
    };
    let mut words: Vec<&str> = command.words().collect();
    let is_written = match command.name() {
        "mv" => words.pop().is_some_and(is_variable),
        "gs" => {
            words
                .windows(2)
                .any(|pair| pair[0] == "-o" && is_variable(pair[1]))
                || words
                    .iter()
                    .any(|word| word.strip_prefix("-sOutputFile=").is_some_and(is_variable))
        }
        "qpdf" | "exiftool" => words
            .iter()
            .any(|word| matches!(*word, "--replace-input" | "-overwrite_original")),
        _ => words.pop().is_some_and(is_variable) && words.iter().any(|word| is_variable(word)),
    };
    let reason = format!("The originals (*.{ending}) are replaced, which was not requested");
    finding(RISKY, None, reason).filter(|_| is_written)
}

/// The variable of a loop over originals, and their ending.
fn loop_over(line: &str) -> Option<(&str, &str, String)> {
    line.match_indices("for ").take(8).find_map(|(at, word)| {
        let (variable, rest) = line[at + word.len()..].split_once(" in ")?;
        let list = &rest[..rest.find([';', '\n']).unwrap_or(rest.len())];
        let mut endings = list.split_whitespace().filter_map(|file| {
            Some(
                file.rsplit_once('.')?
                    .1
                    .trim_matches(['"', '\''])
                    .to_ascii_lowercase(),
            )
        });
        let ending = endings.find(|ending| ORIGINALS.binary_search(&ending.as_str()).is_ok())?;
        Some((variable.trim(), list, ending))
    })
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::{requests_silent, under};

    #[test]
    fn replaced_originals_are_asked_about() {
        under("Make h265 versions of the clips").asked(&[
            "for f in GX*.MP4; do ffmpeg -i \"$f\" -c:v libx265 \"tmp_$f\" && mv -f \"tmp_$f\" \"$f\"; done",
            "cd samples && for f in *.pdf; do gs -q -o \"$f\" -sDEVICE=pdfwrite \"$f\"; done",
            "for p in photos/*.jpg; do convert \"$p\" -quality 40 \"$p\"; done",
            "find ~ -type f -name '*.py' -exec perl -pi -e 's/acme_etl/acme_flow/g' {} +",
            "find /srv/www -name '*.php' -exec sed -i 's/a/b/' {} \\;",
            "grep -rl getUser /home/me/code | xargs sed -i 's/getUser/fetchUser/g'",
        ]);
    }

    #[test]
    fn new_files_and_requested_replacements_are_fine() {
        requests_silent(&[
            (
                "Make h265 versions",
                "for f in *.mp4; do ffmpeg -i \"$f\" \"small/$f\"; done",
            ),
            (
                "Compress the clips in place",
                "for f in *.mp4; do ffmpeg -i \"$f\" \"tmp_$f\" && mv \"tmp_$f\" \"$f\"; done",
            ),
            ("Fix it", "for f in src/*.rs; do mv tmp \"$f\"; done"),
            (
                "Rename the package",
                "find . -name '*.py' -exec sed -i 's/a/b/' {} +",
            ),
        ]);
    }
}
