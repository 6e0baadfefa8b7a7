//! `chmod`: permissions that open files to everybody, and those of a whole project or system.

use super::{SET_ID, is_restricting, is_set_id, protected};
use crate::danger::{CRITICAL, DESTRUCTIVE, EvaluationContext, RISKY, Unrequested, finding, unrequested};
use crate::normalized_path::NormalizedPath;
use grov_domain::{ExecutionHost, Finding, Program};

const WORLD_WRITABLE: Unrequested = unrequested(
    RISKY,
    &["chmod", "777", "666", "permisiun", "permission", "writable"],
    "A recursive `chmod` makes everything writable for everybody",
);
const WHOLE_PROJECT: Unrequested = unrequested(
    RISKY,
    &[
        "chmod",
        "permisiun",
        "permission",
        "readable",
        "writable",
        "executabl",
    ],
    "The permissions of the whole project are changed, which was not requested",
);

/// Folders of the system. Their own permissions decide who can work at all.
#[rustfmt::skip]
const SYSTEM: &[&str] = &[
    "/", "/*", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/sbin", "/sys", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/sbin",
    "/var", "/var/lib", "/var/log", "/Applications", "/Library", "/System", "/Users",
];

/// The finding for permissions that open files to everybody, or change those of the system.
pub(super) fn changed(command: &Program, context: &EvaluationContext<'_>) -> Option<Finding> {
    let mode = mode_of(command);
    let paths = || command.operands().skip_while(|word| *word == mode);
    if is_set_id(mode) && !mode.starts_with('2') {
        return SET_ID.finding(context);
    }
    let secret = paths().find(|path| crate::danger::outbound::is_secret_file(path));
    if let Some(secret) = secret.filter(|_| opens_to_others(mode)) {
        return finding(
            RISKY,
            Some(secret),
            format!("{secret} becomes readable for other users of this machine"),
        );
    }
    let is_recursive = command.has("--recursive", 'R');
    let is_home = |path: &str| matches!(path.trim_end_matches('/'), "~" | "$HOME" | "${HOME}");
    let is_system = |path: &str| {
        let bare = path.trim_end_matches("/*").trim_end_matches('/');
        SYSTEM.contains(&bare) || path.starts_with('/') && bare.is_empty()
    };
    if is_recursive && paths().any(|path| is_system(path) || is_home(path) && !takes_from_others(mode)) {
        return finding(CRITICAL, None, "The permissions of a whole system are changed");
    }
    let is_here = command.host != ExecutionHost::Container;
    if is_here && paths().any(|path| is_system(path) || is_home(path) && is_writable_for_all(mode)) {
        return finding(
            DESTRUCTIVE,
            None,
            "The permissions of a folder of the system are changed",
        );
    }
    if is_recursive && is_writable_for_all(mode) {
        return WORLD_WRITABLE.finding(context);
    }
    if is_recursive && closes_folders(mode) && paths().any(|path| is_project(path, context)) {
        return WHOLE_PROJECT.finding(context);
    }
    let mut places = paths()
        .map(|path| NormalizedPath::new(context.root, path))
        .filter(|place| {
            !place.is_in_project() && context.root.is_known() && !crate::file_kind::is_temporary(place)
        });
    let place = places.find(|place| is_recursive || protected(place).is_some())?;
    let asked = &context.compiled.request;
    if asked.orders_any(&["chmod", "permission", "writable", "executabl", "readable"])
        || context.compiled.is_named(&place)
    {
        return None;
    }
    // `chmod 600 ~/.ssh/id_ed25519` makes a key usable, and taking from others opens nothing.
    if is_restricting(mode) && !is_recursive || takes_from_others(mode) {
        return None;
    }
    let name = place.display();
    finding(
        RISKY,
        Some(name),
        format!("The permissions of {name} are changed, which was not requested"),
    )
}

/// The mode, which may begin with a hyphen: `chmod -w x`.
fn mode_of(command: &Program) -> &str {
    let taking = command.words().skip(1).find(|word| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.bytes().all(|letter| b"rwxXst".contains(&letter))
    });
    taking.or_else(|| command.operands().next()).unwrap_or_default()
}

/// The digits of a mode that is a number.
fn digits(mode: &str) -> Option<&[u8]> {
    let is_number = (3..=4).contains(&mode.len()) && mode.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    is_number.then_some(mode.as_bytes())
}

/// The parts of a mode in letters: whom it is for, what it does, and the permissions.
fn clauses(mode: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    mode.split(',').filter_map(|clause| {
        let at = clause.find(['+', '-', '='])?;
        let (who, rest) = clause.split_at(at);
        let (what, permissions) = rest.split_at(1);
        Some((who, what, permissions))
    })
}

/// Whether everybody may write: `777`, `a+w`, `o=rw`.
fn is_writable_for_all(mode: &str) -> bool {
    let by_number = digits(mode).and_then(<[u8]>::last);
    by_number.is_some_and(|digit| matches!(digit, b'2' | b'3' | b'6' | b'7'))
        || mode == "+rwx"
        || clauses(mode).any(|(who, what, permissions)| {
            who.contains(['a', 'o']) && what != "-" && permissions.contains('w')
        })
}

/// Whether the user can no longer enter folders, or no longer read or write: `600`, `a-x`, `u-w`.
fn closes_folders(mode: &str) -> bool {
    let owner = digits(mode).and_then(|digits| digits.get(digits.len().checked_sub(3)?));
    let restores = mode.contains(['X']);
    owner.is_some_and(|digit| *digit != b'7')
        || !restores
            && clauses(mode).any(|(who, what, permissions)| {
                let is_mine = who.is_empty() || who.contains(['a', 'u']);
                is_mine
                    && (what == "-" && permissions.contains(['r', 'w', 'x'])
                        || what == "=" && !permissions.contains('x'))
            })
}

/// Whether a mode only takes from other users: `go-w`.
fn takes_from_others(mode: &str) -> bool {
    let mut all = clauses(mode).peekable();
    all.peek().is_some()
        && all.all(|(who, what, _)| {
            what == "-" && !who.is_empty() && who.bytes().all(|one| matches!(one, b'g' | b'o'))
        })
}

/// Whether a path is the whole project.
fn is_project(path: &str, context: &EvaluationContext<'_>) -> bool {
    let Some(path) = context.directory.path(path) else {
        return false;
    };
    let folder = path.strip_suffix("/*").unwrap_or(&path);
    let place = NormalizedPath::new(context.root, if folder == "*" { "." } else { folder });
    place.as_str().is_empty() || place.as_str() == "."
}

/// Whether a mode lets other users read: `644`, `go+r`.
fn opens_to_others(mode: &str) -> bool {
    if mode.bytes().all(|digit| digit.is_ascii_digit()) {
        return mode.len() >= 3 && !mode.ends_with("00");
    }
    let (who, what) = mode.split_once(['+', '=']).unwrap_or(("u", ""));
    (who.is_empty() || who.contains(['g', 'o', 'a'])) && what.contains(['r', 'w'])
}

#[cfg(test)]
mod tests {
    use crate::danger::tests::{is_asked, under};

    #[test]
    fn modes_of_the_whole_project_or_system_are_asked_about() {
        under("Fix the parser").asked(&[
            "chmod -R a+w .",
            "chmod -R 600 .",
            "chmod -R 644 *",
            "chmod -R a-x .",
            "chmod -R u-w ./",
            "chmod -R -x .",
            "chmod -R 000 \"$PWD\"",
            "chmod -R o+rw src",
            "chmod -R 666 data",
            "chmod 777 /",
            "chmod 700 /etc",
            "sudo chmod 755 /usr/",
            "chmod 777 ~",
            "chmod -R 755 /",
        ]);
        under("Fix the parser").silent(&[
            "chmod +x run.sh",
            "chmod -R u+rwX .",
            "chmod -R 755 .",
            "chmod -R go-w ~",
            "chmod 700 ~",
            "chmod -R a+r docs",
            "chmod -R u=rwX,go=rX .",
            "chmod 644 README.md",
            "chmod -R 600 build/keys",
        ]);
        assert!(!is_asked(
            "Make everything writable: chmod -R a+w .",
            "chmod -R a+w ."
        ));
    }
}
