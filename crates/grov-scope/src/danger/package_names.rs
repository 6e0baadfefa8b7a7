//! Packages whose names are almost those of well-known ones: `npx depchek`, `pip install reqeusts`. A mistyped name may belong
//! to somebody who waits for it.

use super::{EvaluationContext, RISKY, finding};
use grov_domain::{Finding, Program};
use std::collections::HashSet;
use std::sync::OnceLock;

/// Well-known packages, sorted by nothing: words of a text.
const KNOWN: &str = include_str!("package_names.txt");

/// Names with fewer letters have too many neighbours.
const MIN_LENGTH: usize = 6;

fn known() -> &'static HashSet<&'static str> {
    static NAMES: OnceLock<HashSet<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let lines = KNOWN.lines().filter(|line| !line.starts_with('#'));
        lines.flat_map(str::split_ascii_whitespace).collect()
    })
}

/// The finding for a package that is installed or run and whose name resembles another one.
pub(super) fn of_command(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let packages = packages(command)?;
    let request = &context.compiled.request;
    packages.into_iter().take(20).find_map(|package| {
        let name = package
            .rsplit_once('@')
            .map_or(package, |(name, _)| if name.is_empty() { package } else { name });
        let name = name
            .split(['=', '<', '>', '~', '[', '!'])
            .next()
            .unwrap_or(name)
            .to_ascii_lowercase();
        let is_plain = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if name.len() < MIN_LENGTH || !is_plain || known().contains(name.as_str()) || request.names(&name) {
            return None;
        }
        let near = known()
            .iter()
            .find(|known| known.len() >= MIN_LENGTH && is_near(&name, known))?;
        let reason = format!("`{name}` is almost the name of the package `{near}`, and is not checked");
        finding(RISKY, None, reason)
    })
}

/// The packages that a command installs or runs.
fn packages(command: &Program) -> Option<Vec<&str>> {
    let mut words: Vec<&str> = command.operands().collect();
    if command
        .through
        .iter()
        .any(|outer| matches!(outer.as_str(), "npx" | "bunx" | "pnpx" | "uvx" | "pipx"))
    {
        return Some(vec![command.name()]);
    }
    match command.name() {
        "npx" | "bunx" | "pnpx" | "uvx" => {
            words.truncate(1);
            Some(words)
        }
        "npm" | "pnpm" | "yarn" | "bun" | "pip" | "pip3" | "pipx" | "uv" | "cargo" | "gem" | "poetry" => {
            let at = words
                .iter()
                .position(|word| matches!(*word, "install" | "i" | "add" | "dlx" | "run" | "exec" | "x"))?;
            let verb = words[at];
            let mut rest = words.split_off(at + 1);
            match verb {
                "run" | "exec" | "x" if command.name() != "pipx" => return None,
                "dlx" | "run" => rest.truncate(1),
                _ => {}
            }
            Some(rest)
        }
        _ => None,
    }
}

/// Whether one letter is missing, added, different or swapped with the next. The first letter counts like the others.
fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (rest, rest_other) = (&one[start..], &other[start..]);
    match one.len().cmp(&other.len()) {
        std::cmp::Ordering::Less => rest == &rest_other[1..],
        std::cmp::Ordering::Greater => rest[1..] == *rest_other,
        std::cmp::Ordering::Equal => {
            let is_swapped = rest.len() >= 2
                && rest[0] == rest_other[1]
                && rest[1] == rest_other[0]
                && rest[2..] == rest_other[2..];
            let is_digit = rest.first().is_some_and(u8::is_ascii_digit)
                || rest_other.first().is_some_and(u8::is_ascii_digit);
            // `boto3` and `boto4` are versions.
            is_swapped || !is_digit && !rest.is_empty() && rest[1..] == rest_other[1..]
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::under;

    #[test]
    fn mistyped_packages_are_asked_about() {
        under("Remove unused packages").asked(&[
            "npx -y depchek@latest --auto-fix",
            "pip install reqeusts",
            "npm i expresss",
            "cargo add serde-jason tokoi-util tracng",
        ]);
    }

    #[test]
    fn well_known_and_unknown_packages_are_fine() {
        under("Remove unused packages").silent(&[
            "npx -y depcheck",
            "npm install preact express @acme/expresss",
            "pip install requests==2.31 -r reqs.txt",
            "npx acme-internal-tool",
            "npm run eslnt",
        ]);
    }
}
