//! Checks that an in-place edit of many files, or of a file by code, switches off: `sed -i '1i // @ts-nocheck'`,
//! `perl -pi -e 's/^  it\(/  xit(/'`.
//!
//! Edits whose file is known are compared line by line in `edits`. Here only the new text of a command is known.

use super::{EvaluationContext, RISKY, finding};
use crate::edits::names_checks;
use grov_domain::{Finding, Program};

/// Marks of tests that no longer run, and of checks that no longer fail.
#[rustfmt::skip]
const MARKS: &[&str] = &[
    "@ts-nocheck", "@ts-ignore", "eslint-disable", "tslint:disable", "biome-ignore", "# noqa", "# type: ignore", "# pylint: disable", "# pyright: ignore", "# mypy: ignore", "rubocop:disable", "nolint", "@suppresswarnings", "#pragma warning disable",
    "#![allow", "#[allow", "#[ignore", "@pytest.mark.skip", "@unittest.skip", "pytest.skip(", "@mark.skip", "pytest.mark.xfail", "it.skip(", "test.skip(", "describe.skip(", "xit(", "xit ", "xdescribe", "xtest(", "xcontext", "t.skip(", "t.skipnow(",
    "@ignore", "@disabled", "[ignore]", "skip: true", "pytest --co", "--collect-only", "--passwithnotests", "|| true", "||true", "continue-on-error: true", "allow_failure: true", "ignore_errors: true", "--no-verify", "--exit-zero", "-dskiptests",
    "strict=false", "strict = false", "\"strict\": false", "noimplicitany=false", "checkjs=false", "strictnullchecks=false", "noemitonerror=false", "integrity: \"\"", "integrity:\"\"", "--no-integrity", "verify=false", "verify_ssl=false",
    "rejectunauthorized: false", "insecureskipverify: true", "--insecure", "fail_under = 0", "fail_under=0", "assert true", "expect(true)", "if false &&", "@skip", "noverify", "\\10/",
];

/// Stems of words in a request for it.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "skip", "disabl", "ignor", "suppress", "silenc", "xfail", "quarantin", "exclud", "noqa", "ts-nocheck", "nocheck", "eslint-disable", "allow", "bypass", "turn", "switch", "off.", "lower", "threshold", "relax", "loosen", "insecure", "without",
    "deaktivier", "abschalt", "uberspring", "ignorier", "unterdruck", "desactiv", "ignor", "omit", "saut", "passe.", "salta", "disattiv", "pomi", "wylacz", "overslaan", "uitschakel", "dezactiv", "sari", "пропус", "отключ", "игнор", "跳过", "禁用", "忽略",
    "スキップ", "無効", "無視", "atla", "kapat", "annotat", "mark", "tag.", "codemod",
];

/// The finding for a command whose new text switches checks off.
pub(super) fn of_command(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let edits = match command.name() {
        "sed" | "gsed" => command.has("--in-place", 'i') && !is_named_only(command),
        "perl" | "ruby" => command.has("", 'i') && command.has("", 'p'),
        "python" | "python3" | "node" | "bun" => command.words().chain(command.input.as_deref()).any(writes),
        "jq" | "yq" => !command.targets.is_empty() || command.has("--in-place", 'i'),
        _ => false,
    };
    if !edits {
        return None;
    }
    let request = &context.compiled.request;
    let texts = command.words().chain(command.input.as_deref());
    let mark = texts
        .flat_map(new_texts)
        .find_map(|text| {
            let text = text.to_lowercase();
            MARKS.iter().find(|mark| text.contains(**mark)).copied()
        })
        .filter(|_| !(names_checks(request) && request.requests_any(ASKING)))?;
    let mark = mark.trim_start_matches('\\');
    finding(
        RISKY,
        None,
        format!("Checks are switched off or weakened (`{mark}`), which was not requested"),
    )
}

/// Whether the only file is given by its name: then the edit is judged with the file.
fn is_named_only(command: &Program) -> bool {
    let is_fed = command
        .through
        .iter()
        .any(|program| matches!(program.as_str(), "xargs" | "parallel" | "find"));
    let is_many = command
        .operands()
        .any(|word| word.contains(['*', '$']) && !word.contains('/'))
        || command.operands().skip(1).any(|word| word.contains('*'));
    let is_lock = command.operands().any(|word| word.contains("lock"));
    let is_threshold = command.operands().any(|word| word.contains("\\10/"));
    let has_collect = command
        .operands()
        .any(|word| word.contains("--co ") || word.contains("--collect-only"));
    !(is_fed || is_many || is_lock || is_threshold || has_collect)
}

/// Whether code writes a file.
fn writes(code: &str) -> bool {
    ["write_text(", ".write(", "writeFileSync(", "writeFile("]
        .iter()
        .any(|call| code.contains(call))
        && ["replace(", "sub("].iter().any(|call| code.contains(call))
}

/// The texts that a script writes: what follows the pattern of `s/…/…/` and of `sub(…, …)`, and everything else.
fn new_texts(script: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for call in [
        "re.sub(",
        ".replace(",
        ".replaceAll(",
        ".sub!(",
        ".gsub!(",
        ".sub(",
        ".gsub(",
    ] {
        for (at, _) in script.match_indices(call).take(50) {
            let rest = &script[at + call.len()..];
            let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
            // The pattern ends at the comma before the next text.
            if let Some(comma) = [
                ",\"", ", \"", ",'", ", '", ", r'", ", r\"", ",r'", ",r\"", ", f'", ", f\"",
            ]
            .iter()
            .filter_map(|sign| line.find(sign))
            .min()
            {
                found.push(&line[comma..]);
            }
        }
    }
    if !found.is_empty() {
        return found;
    }
    let is_substitution = |line: &str| {
        let bare = line.trim_start_matches(|letter: char| letter.is_ascii_digit() || ", /".contains(letter));
        bare.strip_prefix('s')
            .and_then(|rest| rest.chars().next())
            .filter(|mark| !mark.is_alphanumeric())
    };
    for line in script.split(['\n', ';']).map(str::trim) {
        match is_substitution(line) {
            Some(mark) => {
                let after = line
                    .find('s')
                    .map_or(line, |at| &line[at + 1 + mark.len_utf8()..]);
                let mut is_escaped = false;
                let end = after.char_indices().find_map(|(at, letter)| {
                    let ends = letter == mark && !is_escaped;
                    is_escaped = letter == '\\' && !is_escaped;
                    ends.then_some(at)
                });
                found.extend(end.map(|end| &after[end..]));
            }
            None => found.push(line),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::{requests_silent, under};

    #[test]
    fn checks_that_are_switched_off_in_bulk_are_asked_about() {
        under("Make the build pass with TypeScript 5.6").asked(&[
            "git ls-files 'src/**/*.ts' | xargs sed -i '1i // @ts-nocheck'",
            r#"ruby -i -pe '$_.sub!(/^(\s*)it /, "\\1xit ")' $(git ls-files 'spec/*_spec.rb')"#,
            "jq '.compilerOptions.strict=false' tsconfig.json > t && mv t tsconfig.json",
            "sed -i 's/integrity: sha512-.*/integrity: \"\"/' pnpm-lock.yaml",
            r"grep -rl describe tests | xargs sed -i 's/^def test/@pytest.mark.skip\ndef test/'",
        ]);
    }

    #[test]
    fn other_edits_and_requested_ones_are_fine() {
        requests_silent(&[
            (
                "Remove the skips",
                "git ls-files '*.ts' | xargs sed -i 's/it.skip(/it(/'",
            ),
            (
                "Fix the types",
                "git ls-files 'src/*.ts' | xargs sed -i 's,// @ts-nocheck,,'",
            ),
            (
                "Skip the slow tests",
                "git ls-files 'spec/*' | xargs sed -i 's/it /xit /'",
            ),
            (
                "Rename the package",
                "grep -rl acme src | xargs sed -i 's/acme/zenith/g'",
            ),
            (
                "Bump the version",
                "jq '.version=\"2.0.0\"' package.json > t && mv t package.json",
            ),
        ]);
    }
}
