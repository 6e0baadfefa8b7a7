//! Programs that read, write, move, remove or search files.

use crate::has_word;
use crate::inline::inline_code;
use crate::path;
use crate::shell::options::Options;
use crate::shell::state::{Inner, MAX_ARGUMENTS, Place, Shell};
use crate::shell::words::Argument;
use grov_domain::EffectKind;

/// Programs whose operands are all paths: the effect on these, and the number of operands before them, such as a pattern,
/// a mode or a script.
#[rustfmt::skip]
const PLAIN_PROGRAMS: &[(EffectKind, usize, &str)] = &[
    (EffectKind::Read, 0, "cat tac rev nl wc less more file md5sum sha1sum sha256sum sha512sum shasum cksum b2sum zcat zless \
          bzcat xzcat realpath readlink ldd nm objdump size strings comm cmp paste column expand fold fmt pr \
          vimdiff open xdg-open head tail bat batcat cut uniq od xxd hexdump base64 diff colordiff sdiff stat \
          join"),
    (EffectKind::Read, 1, "jq yq gron"),
    (EffectKind::Write, 0, "touch truncate fallocate mkdir"),
    (EffectKind::Delete, 0, "rm unlink shred trash trash-put rimraf del rmdir"),
    (EffectKind::Permission, 1, "chmod chown chgrp chflags setfacl xattr"),
    (EffectKind::Modify, 0, "vim vi nvim nano emacs ed ex code dos2unix unix2dos gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd"),
];

/// Records the effects of a program. Returns whether this module knows it.
pub(crate) fn record_effects(shell: &mut Shell, name: &str, arguments: &[Argument]) -> bool {
    if let Some((kind, skip, _)) = PLAIN_PROGRAMS.iter().find(|(.., names)| has_word(names, name)) {
        plain_files(shell, name, *kind, *skip, arguments);
        return true;
    }
    match name {
        "ls" | "dir" | "exa" | "eza" | "lsd" | "tree" | "du" => list(shell, arguments),
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" | "ugrep" => {
            search(shell, name, arguments)
        }
        "find" | "gfind" => find(shell, arguments),
        "fd" | "fdfind" => fd(shell, arguments),
        "sed" | "gsed" => sed(shell, arguments),
        "awk" | "gawk" | "mawk" | "nawk" => awk(shell, arguments),
        "perl" => return perl(shell, arguments),
        "sort" => sort(shell, arguments),
        "tee" | "sponge" => tee(shell, arguments),
        "dd" => dd(shell, arguments),
        "mv" => move_or_copy(shell, EffectKind::Move, arguments),
        "cp" | "gcp" | "ditto" => move_or_copy(shell, EffectKind::Copy, arguments),
        "install" => install(shell, arguments),
        "ln" => link(shell, arguments),
        "patch" => patch(shell, arguments),
        "tar" | "bsdtar" => tar(shell, arguments),
        "zip" => zip(shell, arguments),
        "unzip" => unzip(shell, arguments),
        "mktemp" => {}
        _ => return false,
    }
    true
}

fn plain_files(shell: &mut Shell, name: &str, kind: EffectKind, skip: usize, arguments: &[Argument]) {
    let options = Options::of(name, arguments);
    let operands = options.operands.iter().skip(skip);
    let kind = if name == "yq" && options.has("-i --inplace --in-place") {
        EffectKind::Modify
    } else {
        kind
    };
    let places = match name {
        "mkdir" | "rmdir" => shell.folder_places(operands),
        _ => shell.places(operands),
    };
    match kind {
        // Without paths it reads its standard input.
        EffectKind::Read => shell.findings.add_if_any(kind, places),
        _ => shell.findings.add(kind, places),
    }
}

/// Marks the place as a folder unless its name looks like that of a file.
fn guess_folder(place: Place) -> Place {
    let is_folder = place.is_folder || !path::has_extension(&place.path);
    Place { is_folder, ..place }
}

fn list(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("ls", arguments);
    let mut places: Vec<Place> = shell
        .places(&options.operands)
        .into_iter()
        .map(guess_folder)
        .collect();
    if options.operands.is_empty() {
        places.extend(shell.here());
    }
    shell.findings.add(EffectKind::Read, places);
}

fn search(shell: &mut Shell, name: &str, arguments: &[Argument]) {
    let options = Options::of(name, arguments);
    let pattern_is_option = options.has("-e -f --regexp --file --files");
    let first = usize::from(!pattern_is_option);
    let operands = options.operands.get(first..).unwrap_or_default();
    let searches_folders = name != "zgrep" && !matches!(name, "grep" | "egrep" | "fgrep")
        || options.has("-r -R --recursive --dereference-recursive");
    let mut places = shell.places(operands);
    if searches_folders {
        places = places.into_iter().map(guess_folder).collect();
        if operands.is_empty() {
            places.extend(shell.here());
        }
    }
    shell.findings.add_if_any(EffectKind::Read, places);
}

/// `find roots… conditions… actions…`
fn find(shell: &mut Shell, arguments: &[Argument]) {
    let is_leading = |argument: &&Argument| has_word("-H -L -P", &argument.text);
    let arguments = &arguments[arguments.iter().take_while(is_leading).count()..];
    let is_root = |argument: &&Argument| !argument.text.starts_with(['-', '(', '!']);
    let (roots, expression) = arguments.split_at(arguments.iter().take_while(is_root).count());
    let mut places: Vec<Place> = shell.places(roots).into_iter().map(guess_folder).collect();
    if roots.is_empty() {
        places.extend(shell.here());
    }
    let position =
        |words: &[Argument], options: &str| words.iter().position(|word| has_word(options, &word.text));
    let after = |options: &str| expression.get(position(expression, options)? + 1);
    let name = after("-name -iname").map(|name| name.text.as_str());
    // The files found: those with the name below the roots, or the roots themselves.
    let found: Vec<Argument> = places
        .iter()
        .map(|root| match name {
            Some(name) => Argument::new(format!("{}/**/{name}", root.path.trim_end_matches('/'))),
            None => Argument::new(root.path.clone()),
        })
        .collect();
    shell.findings.add(EffectKind::Read, places);
    if expression.iter().any(|argument| argument.text == "-delete") {
        shell.add(EffectKind::Delete, &found);
    }
    if let Some(file) = after("-fprint -fprintf -fls") {
        shell.add(EffectKind::Write, [file]);
    }
    let mut rest = expression;
    while let Some(at) = position(rest, "-exec -execdir -ok -okdir") {
        let command = &rest[at + 1..];
        let end = position(command, "; +").unwrap_or(command.len());
        run_on(shell, &command[..end], &found);
        rest = &command[end..];
    }
}

/// Runs a command on the files found. They replace each `{}`.
fn run_on(shell: &mut Shell, command: &[Argument], found: &[Argument]) {
    let mut put_in = Vec::new();
    for argument in command {
        let room = MAX_ARGUMENTS.saturating_sub(put_in.len());
        if argument.text == "{}" {
            put_in.extend(found.iter().take(room).cloned());
        } else if room > 0 {
            put_in.push(argument.clone());
        }
    }
    shell.inner.push(Inner::ForEach(put_in));
}

fn fd(shell: &mut Shell, arguments: &[Argument]) {
    let run = arguments
        .iter()
        .position(|word| matches!(word.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
    let (arguments, command) = arguments.split_at(run.unwrap_or(arguments.len()));
    let options = Options::of("fd", arguments);
    let roots = options.operands.iter().skip(1);
    let mut places = shell.folder_places(roots);
    if places.is_empty() {
        places.extend(shell.here());
    }
    let found: Vec<Argument> = places
        .iter()
        .map(|place| Argument::new(place.path.clone()))
        .collect();
    shell.findings.add(EffectKind::Read, places);
    if let Some((_, command)) = command.split_first() {
        let mut command = command.to_vec();
        if !command.iter().any(|word| word.text == "{}") {
            command.push(Argument::new("{}"));
        }
        run_on(shell, &command, &found);
    }
}

/// `sed -i` changes files, `sed` reads them. A suffix may follow `-i`, in BSD as a separate argument.
fn sed(shell: &mut Shell, arguments: &[Argument]) {
    let in_place = arguments
        .iter()
        .any(|argument| argument.text.starts_with("--in-place") || cluster_has(&argument.text, 'i', "efl"));
    let rest: Vec<Argument> = arguments
        .iter()
        .filter(|argument| !argument.text.starts_with("-i"))
        .cloned()
        .collect();
    let options = Options::of("sed", &rest);
    let script_is_option = options.has("-e -f --expression --file");
    let mut operands: &[&Argument] = &options.operands;
    // BSD: the argument after `-i` is the suffix, which is often empty.
    let is_suffix = |word: &Argument| word.quoted && (word.text.is_empty() || word.text.starts_with('.'));
    if arguments.iter().any(|argument| argument.text == "-i")
        && operands.first().is_some_and(|first| is_suffix(first))
    {
        operands = &operands[1..];
    }
    let files = operands.get(usize::from(!script_is_option)..).unwrap_or_default();
    let places = shell.places(files);
    if in_place {
        shell.findings.add(EffectKind::Modify, places);
    } else {
        shell.findings.add_if_any(EffectKind::Read, places);
    }
}

fn awk(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("awk", arguments);
    let script_is_option = options.has("-f --file");
    let in_place = options.values_of("-i").any(|value| value.text == "inplace");
    let files = options.operands.iter().skip(usize::from(!script_is_option));
    let places = shell.places(files.filter(|file| !file.text.contains('=')));
    if in_place {
        shell.findings.add(EffectKind::Modify, places);
    } else {
        shell.findings.add_if_any(EffectKind::Read, places);
    }
}

/// Whether a group of short options such as `-ni` contains a letter before the first letter that takes the rest as
/// its value.
fn cluster_has(option: &str, letter: char, valued: &str) -> bool {
    let letters = option
        .strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'));
    letters.is_some_and(|letters| {
        letters
            .split(|c| valued.contains(c))
            .next()
            .is_some_and(|free| free.contains(letter))
    })
}

/// `perl -i -pe '…' files`. Returns whether files are edited in place.
fn perl(shell: &mut Shell, arguments: &[Argument]) -> bool {
    let mut options = arguments.iter().take_while(|argument| argument.is_option());
    if !options.any(|option| cluster_has(&option.text, 'i', "eE")) {
        return false;
    }
    let given = inline_code("perl", arguments.iter().map(Argument::written));
    let files = given.and_then(|given| arguments.get(given.operands..));
    shell.add(EffectKind::Modify, files.unwrap_or_default());
    true
}

fn sort(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("sort", arguments);
    shell.add_if_named(EffectKind::Read, &options.operands);
    if let Some(output) = options.value("-o --output") {
        shell.add(EffectKind::Write, [output]);
    }
}

fn tee(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("tee", arguments);
    let kind = if options.has("-a --append") {
        EffectKind::Modify
    } else {
        EffectKind::Write
    };
    shell.add_if_named(kind, &options.operands);
}

fn dd(shell: &mut Shell, arguments: &[Argument]) {
    for (prefix, kind) in [("if=", EffectKind::Read), ("of=", EffectKind::Write)] {
        let named = arguments
            .iter()
            .filter_map(|argument| Some(argument.with_text(argument.text.strip_prefix(prefix)?)));
        shell.add_if_named(kind, named);
    }
    let is_device = |argument: &Argument| {
        let target = argument.text.strip_prefix("of=");
        target.is_some_and(|target| target.starts_with("/dev/") && target != "/dev/null")
    };
    if arguments.iter().any(is_device) {
        shell.findings.add(EffectKind::Execute, Vec::new());
    }
}

fn move_or_copy(shell: &mut Shell, kind: EffectKind, arguments: &[Argument]) {
    let options = Options::of("cp", arguments);
    let mut places = shell.places(&options.operands);
    if let Some(target) = options.value("-t --target-directory") {
        places.extend(shell.folder_places([target]));
    } else if options.operands.len() > 2
        && let Some(target) = places.last_mut()
    {
        target.is_folder = true;
    }
    shell.findings.add(kind, places);
}

fn install(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("install", arguments);
    if options.has("-d --directory") {
        let folders = shell.folder_places(&options.operands);
        return shell.findings.add(EffectKind::Write, folders);
    }
    let mut places = shell.places(&options.operands);
    places.extend(shell.folder_places(options.value("-t --target-directory")));
    shell.findings.add(EffectKind::Copy, places);
}

/// `ln target… link` writes the link.
fn link(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("ln", arguments);
    let operands = &options.operands;
    let places = match operands.as_slice() {
        [] => Vec::new(),
        [target] => shell.places([Argument::new(path::file_name(&target.text))]),
        [.., link] => shell.places([link]),
    };
    shell.findings.add(EffectKind::Write, places);
}

/// `patch [file [patch]]`, `patch -p1 -i patch`.
fn patch(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("patch", arguments);
    let input = options.value("-i --input").or(options.operands.get(1).copied());
    shell.add_if_named(EffectKind::Read, input);
    shell.add(EffectKind::Modify, options.operands.first());
}

fn tar(shell: &mut Shell, arguments: &[Argument]) {
    // The first argument may lack the dash: `tar czf a.tgz src`.
    let mut arguments = arguments.to_vec();
    if let Some(first) = arguments.first_mut()
        && !first.text.starts_with('-')
        && first.text.chars().all(|letter| letter.is_ascii_alphabetic())
    {
        first.text.insert(0, '-');
    }
    let options = Options::of("tar", &arguments);
    let archive = shell.places(options.value("-f --file"));
    let folder = shell.folder_places(options.value("-C --directory"));
    if options.has("-c -r -u --create --append --update") {
        shell.add(EffectKind::Read, &options.operands);
        shell.findings.add(EffectKind::Write, archive);
    } else {
        shell.findings.add(EffectKind::Read, archive);
        if options.has("-x --extract --get") {
            write_to(shell, folder);
        }
    }
}

fn zip(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("zip", arguments);
    let mut places = shell.places(&options.operands).into_iter();
    let archive = places.next();
    shell.findings.add(EffectKind::Read, places);
    shell.findings.add(EffectKind::Write, archive);
}

fn unzip(shell: &mut Shell, arguments: &[Argument]) {
    let options = Options::of("unzip", arguments);
    shell.add(EffectKind::Read, options.operands.first());
    if !options.has("-l -t -p -Z") {
        let folder = shell.folder_places(options.value("-d"));
        write_to(shell, folder);
    }
}

/// Unpacks into a folder, or into the working folder.
fn write_to(shell: &mut Shell, folder: Vec<Place>) {
    if folder.is_empty() {
        let here = shell.here();
        return shell.findings.add_unnamed(EffectKind::Write, here);
    }
    shell.findings.add(EffectKind::Write, folder);
}
