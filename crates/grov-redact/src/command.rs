//! Finds passwords on command lines.

use crate::chosen::is_made;
use crate::header;
use crate::pattern::Class;
use crate::scan::{Certainty, Scan, end_of_run};
use crate::value::{has_digit, is_stand_in, is_words, looks_random};
use std::ops::Range;

/// How a program receives its password.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// In the next word or attached: `-p x` or `-px`.
    Password,
    /// Only attached: `-px`. A separate `-p` prompts for it.
    Attached,
    /// With the user name, in the next word or attached, after this separator: `-u user:password`.
    UserAndPassword(u8),
    /// In the next word after a prefix: `-passin pass:x`.
    Prefixed(&'static str),
    /// In the next word or attached, if it is no plain word: the option has other meanings too.
    Secretly,
    /// Cookies in the next word: `-b 'session=x'`.
    Cookies,
}

/// A program that accepts a password on its command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// The ends of its names. Short names include the following space.
    pub(crate) keywords: &'static [&'static str],
    options: &'static [&'static str],
    form: Form,
}

/// The programs that accept a password on their command lines.
#[rustfmt::skip]
pub(crate) const PROGRAMS: [Program; 39] = [
    Program { keywords: &["curl "], options: &["-u", "--user", "-U", "--proxy-user"], form: Form::UserAndPassword(b':') },
    Program { keywords: &["curl "], options: &["-b", "--cookie"], form: Form::Cookies },
    Program { keywords: &["sshpass "], options: &["-p"], form: Form::Password },
    Program { keywords: &["mysql", "mariadb"], options: &["-p"], form: Form::Attached },
    Program { keywords: &[" login "], options: &["-p"], form: Form::Password },
    Program { keywords: &["redis-cli "], options: &["-a"], form: Form::Password },
    Program { keywords: &["openssl "], options: &["-passin", "-passout", "-pass", "-k"], form: Form::Prefixed("pass:") },
    Program { keywords: &["sqlcmd "], options: &["-P"], form: Form::Password },
    Program { keywords: &["http "], options: &["-a"], form: Form::UserAndPassword(b':') },
    Program { keywords: &["mongosh ", "mongo ", "mongodump ", "mongorestore "], options: &["-p"], form: Form::Password },
    Program { keywords: &["ldapsearch ", "ldapmodify ", "ldapadd "], options: &["-w"], form: Form::Password },
    Program { keywords: &["smbclient "], options: &["-U"], form: Form::UserAndPassword(b'%') },
    Program { keywords: &["zip "], options: &["-P"], form: Form::Password },
    Program { keywords: &["openssl enc ", "openssl aes-256-cbc "], options: &["-k", "-K"], form: Form::Password },
    Program { keywords: &["mosquitto_pub ", "mosquitto_sub ", "ipmitool ", "bcp ", "tsql "], options: &["-P"], form: Form::Password },
    Program { keywords: &["cqlsh ", "rdesktop "], options: &["-p"], form: Form::Password },
    Program { keywords: &["lftp "], options: &["-u"], form: Form::UserAndPassword(b',') },
    Program { keywords: &["7z a ", "7z x ", "7za a ", "7za x "], options: &["-p"], form: Form::Attached },
    Program { keywords: &["snmpget ", "snmpwalk ", "snmpset "], options: &["-A", "-X"], form: Form::Password },
    Program { keywords: &["ssh-keygen "], options: &["-P", "-N"], form: Form::Password },
    Program { keywords: &["ossutil ", "ossutil64 "], options: &["-k"], form: Form::Password },
    Program { keywords: &["plink ", "pscp ", "psftp ", "putty ", "kitty ", "kadmin "], options: &["-pw", "-w"], form: Form::Password },
    Program { keywords: &["psexec ", "psexec64 ", "winrm ", "evil-winrm ", "sqlcl "], options: &["-p"], form: Form::Password },
    Program { keywords: &["security "], options: &["-p", "-w", "-P"], form: Form::Secretly },
    Program { keywords: &["openssl "], options: &["-hmac", "-passin", "-macopt"], form: Form::Secretly },
    Program { keywords: &["cypher-shell ", "beeline ", "nzsql ", "snowsql ", "arangosh ", "clickhouse-client ", "influx "], options: &["-p", "-pw", "-password"], form: Form::Secretly },
    Program { keywords: &["signtool ", "makecert "], options: &["/p"], form: Form::Password },
    Program { keywords: &["schtasks "], options: &["/rp"], form: Form::Password },
    Program { keywords: &["useradd ", "usermod ", "adduser "], options: &["-p"], form: Form::Password },
    Program { keywords: &["nuget ", "choco "], options: &["-k", "-ApiKey"], form: Form::Secretly },
    Program { keywords: &["twine ", "svn ", "hg "], options: &["-p"], form: Form::Secretly },
    Program { keywords: &["impacket-", "crackmapexec ", "netexec ", "hydra ", "rpcclient "], options: &["-p", "-H"], form: Form::Secretly },
    Program { keywords: &["xfreerdp ", "wfreerdp ", "xfreerdp3 "], options: &["/p"], form: Form::Password },
    Program { keywords: &["rabbitmqadmin ", "ncftpput ", "ncftpget ", "altool ", "dotnet nuget ", "isql ", "ldappasswd ", "smbmap "],
        options: &["-p", "-P", "-s"], form: Form::Secretly },
    Program { keywords: &["rar "], options: &["-p", "-hp"], form: Form::Attached },
    Program { keywords: &["snmpget ", "snmpwalk ", "snmpset ", "snmpbulkwalk "], options: &["-c"], form: Form::Secretly },
    Program { keywords: &["net rpc ", "net ads ", "winexe ", "rpcclient "], options: &["-U"], form: Form::UserAndPassword(b'%') },
    Program { keywords: &["osql ", "doveadm ", "veracrypt "], options: &["-P", "-p"], form: Form::Secretly },
    Program { keywords: &["etcdctl ", "influx ", "wget ", "http ", "https ", "xh "], options: &["--user", "-a", "--auth", "-u"], form: Form::UserAndPassword(b':') },
];

/// Maximum distance of an option from the program's name, in bytes.
const MAX_COMMAND: usize = 4096;

/// Finds the values of a program's password options, up to the end of the command. The keyword is the end of the program's name.
pub(crate) fn options(scan: &mut Scan<'_>, number: usize, keyword: Range<usize>) {
    if keyword.start < scan.commands_until[number] {
        return;
    }
    let program = PROGRAMS[number];
    let bytes = scan.bytes;
    // Accepts `mysqldump`, but not `mysqld` and `mysql-client`.
    let name_end = Class::of("a-z").run(bytes, keyword.end, 16);
    let whole = bytes[keyword.end - 1].is_ascii_whitespace()
        || bytes.get(name_end).is_none_or(|byte| byte.is_ascii_whitespace())
            && &bytes[keyword.end..name_end] != b"d";
    if !whole {
        return;
    }
    let limit = bytes.len().min(keyword.end + MAX_COMMAND);
    let slashes = program.options.iter().any(|option| option.starts_with('/'));
    let mut at = keyword.end - 1;
    while at < limit {
        match bytes[at] {
            b'\n' if bytes[at - 1] != b'\\' => break,
            b'|' | b';' => break,
            b'&' if bytes[at..].starts_with(b"&&") => break,
            b'-' | b'/' if bytes[at - 1].is_ascii_whitespace() && (bytes[at] == b'-' || slashes) => {
                if let Some(range) = option_value(scan, program, at) {
                    let text = &scan.text[range.clone()];
                    at = range.end;
                    if matches!(program.form, Form::Cookies) {
                        header::cookies(scan, range.start);
                    } else if !is_stand_in(text) {
                        scan.found("command-password", Certainty::Place, range);
                    }
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    scan.commands_until[number] = at;
}

/// Returns the secret part of the value, if the program has the option at `at`.
fn option_value(scan: &Scan<'_>, program: Program, at: usize) -> Option<Range<usize>> {
    let bytes = scan.bytes;
    let option = program
        .options
        .iter()
        .filter(|option| bytes[at..].starts_with(option.as_bytes()))
        .max_by_key(|o| o.len())?;
    let end = at + option.len();
    let next = *bytes.get(end)?;
    let long = option.len() > 2 && *option != "-hp";
    let value = match next {
        b' ' | b'\t' if matches!(program.form, Form::Attached) => return None,
        b' ' | b'\t' => Class::of(" \t").run(bytes, end, 8),
        b'=' if long => end + 1,
        _ if long => return None,
        _ => end,
    };
    let word = word(bytes, value);
    // The next option, or the end of a quoted command.
    if word.is_empty() || bytes[word.start] == b'-' {
        return None;
    }
    match program.form {
        Form::Password | Form::Attached | Form::Cookies => Some(word),
        Form::Secretly => {
            let text = scan.text.get(word.clone())?;
            (text.len() >= 6 && has_digit(text) && !text.contains(['/', ':', '.', '='])
                || looks_random(text)
                || is_made(text))
            .then_some(word)
        }
        Form::UserAndPassword(sign) => {
            let colon = bytes[word.clone()].iter().position(|byte| *byte == sign)?;
            // Of `key:` and `key:x` the key.
            let rest = &bytes[word.start + colon + 1..word.end];
            if colon >= 16 && matches!(rest, b"" | b"x" | b"X") {
                return Some(word.start..word.start + colon);
            }
            (word.start + colon + 1 < word.end).then_some(word.start + colon + 1..word.end)
        }
        Form::Prefixed(prefix) => bytes[word.clone()]
            .starts_with(prefix.as_bytes())
            .then_some(word.start + prefix.len()..word.end),
    }
}

/// Returns the shell word at `at`, without its quotes.
fn word(bytes: &[u8], at: usize) -> Range<usize> {
    const MAX_WORD: usize = 4096;
    // The shell replaces the escapes of `$'…'`.
    let at = at + usize::from(bytes[at.min(bytes.len())..].starts_with(b"$'"));
    let escaped = usize::from(bytes.get(at) == Some(&b'\\'));
    let quote = bytes
        .get(at + escaped)
        .copied()
        .filter(|byte| matches!(byte, b'"' | b'\''));
    let start = at + quote.map_or(0, |_| escaped + 1);
    let ends = |byte: &u8| match quote {
        Some(quote) => *byte == quote || *byte == b'\n',
        None => byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b';' | b'|' | b')'),
    };
    let start = start.min(bytes.len());
    let mut end = end_of_run(bytes, start, MAX_WORD, ends);
    while end > start && bytes[end - 1] == b'\\' {
        end -= 1;
    }
    // The limit may be inside a character.
    while end > start && end < bytes.len() && bytes[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    start..end
}

/// Finds the word after a flag such as `--password` or `--github-token`. `--password=x` is an assignment instead.
pub(crate) fn flag(scan: &mut Scan<'_>, keyword: Range<usize>) {
    let bytes = scan.bytes;
    let start = Class::of("A-Za-z0-9_-").run_back(bytes, keyword.start, 48);
    if bytes[start] != b'-' {
        return;
    }
    // In a list of arguments: `"--password", "x"`.
    let separator = Class::of(" \t\"',").run(bytes, keyword.end, 8);
    let between = &bytes[keyword.end..separator];
    let spaced = matches!(between, [b' ' | b'\t', ..]);
    let quoted = between.last().is_some_and(|byte| matches!(byte, b'"' | b'\''));
    let listed = quoted && matches!(between, [b'"' | b'\'', b',', ..]);
    if !spaced && !listed {
        return;
    }
    let value = word(bytes, if quoted { separator - 1 } else { separator });
    let Some(text) = scan.text.get(value.clone()) else {
        return;
    };
    // A path names the file, or the account, that it is of.
    let is_path = text.starts_with('/') && text[1..].contains('/') && !looks_random(text);
    if text.len() < 3
        || text.starts_with(['-', '('])
        || is_path
        || is_stand_in(text)
        || is_usage(scan, start, text)
    {
        return;
    }
    let password = scan.text[keyword.clone()].to_ascii_lowercase().contains("pass");
    // `mysql --password NAME` prompts for it; a next word without digits is the database.
    let line = &bytes[keyword.start.saturating_sub(160)..keyword.start];
    let command = line
        .rsplit(|byte| b"\n|;&".contains(byte))
        .next()
        .unwrap_or_default();
    let program = command
        .trim_ascii_start()
        .split(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    let name = program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let is_mysql = name.starts_with(b"mysql") || name.starts_with(b"mariadb");
    if password && !has_digit(text) && !listed && is_mysql {
        return;
    }
    let ordinary = if password {
        !quoted && is_prose_word(text)
    } else {
        is_words(text) && !looks_random(text) || text.len() < 6
    };
    if !ordinary {
        scan.found("command-password", Certainty::Place, value);
    }
}

/// Returns whether a flag with this value is in a text about its use: `[--token TOKEN]`, `--password PASS`, `--token <TOKEN>`.
fn is_usage(scan: &Scan<'_>, flag: usize, value: &str) -> bool {
    let name = value.trim_end_matches([']', ')', '}', '|', ',', '.']);
    let is_upper = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'));
    let bracketed = value.ends_with(']') || flag.checked_sub(1).is_some_and(|at| scan.bytes[at] == b'[');
    #[rustfmt::skip]
    const NAMES: &[&str] = &["PASS", "PWD", "PW", "TOKEN", "KEY", "SECRET", "STRING", "TEXT", "VALUE", "STR", "CODE", "PHRASE"];
    let names_a_value = NAMES
        .iter()
        .any(|known| name == *known || name.ends_with(known) || name.starts_with(known));
    is_upper && (bracketed || names_a_value) || bracketed && is_words(name)
}

/// Finds the password of `user/password@host` after the name of a program of Oracle.
pub(crate) fn oracle(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_LINE: usize = 256;
    if crate::token::continues_a_word(scan.bytes, keyword.start) {
        return;
    }
    let to = scan
        .text
        .floor_char_boundary(keyword.end.saturating_add(MAX_LINE));
    let line = scan.text[keyword.end..to]
        .split(['\n', ';', '|'])
        .next()
        .unwrap_or_default();
    for word in line.split_whitespace().take(8) {
        let login = word
            .strip_prefix("userid=")
            .unwrap_or(word)
            .trim_matches(['"', '\'', '`']);
        let Some((user, rest)) = login.split_once('/') else {
            continue;
        };
        let password = rest.rsplit_once("@").map_or(rest, |(password, _)| password);
        let password = password.split("@//").next().unwrap_or_default();
        let password = password.trim_matches(['"', '\'']);
        let is_user = !user.is_empty() && user.bytes().all(|byte| Class::of("A-Za-z0-9_$#").has(byte));
        if is_user && password.len() >= 4 && !password.contains('/') && !is_stand_in(password) {
            let start = keyword.end + (password.as_ptr() as usize - line.as_ptr() as usize);
            scan.found(
                "command-password",
                Certainty::Place,
                start..start + password.len(),
            );
        }
        // Later words are files.
        return;
    }
}

/// Finds the word of a here-string: `--with-token <<< "…"`, `sudo -S <<< '…'`.
pub(crate) fn here_string(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_BEFORE: usize = 96;
    let bytes = scan.bytes;
    let from = keyword.start.saturating_sub(MAX_BEFORE);
    let line = bytes[from..keyword.start]
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    // The option before `<(…)` says what it is.
    let is_file = bytes[keyword.end - 1] == b' ';
    let line = if is_file {
        line.trim_ascii_end()
            .rsplit(|byte| *byte == b' ')
            .next()
            .unwrap_or_default()
            .to_vec()
    } else {
        line
    };
    let names: [&[u8]; 9] = [
        b"su ", b"kinit", b"passw", b"token", b"sudo -s", b"secret", b"login", b"auth", b"key",
    ];
    if !names
        .iter()
        .any(|name| line.windows(name.len()).any(|part| part == *name))
    {
        return;
    }
    let value = word(bytes, Class::of(" \t").run(bytes, keyword.end, 4));
    let Some(text) = scan.text.get(value.clone()) else {
        return;
    };
    let start = text
        .find(':')
        .filter(|_| line.windows(8).any(|part| part == b"chpasswd"))
        .map_or(0, |colon| colon + 1);
    if text.len() >= 4 && !is_stand_in(text) && !(is_file && text.contains(' ')) {
        scan.found(
            "command-password",
            Certainty::Place,
            value.start + start..value.end,
        );
    }
}

/// Finds the word before the pipe into a command: `echo 'hunter2' | sudo -S ls`. Of `user:password` the password.
pub(crate) fn piped(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const WORD: Class = Class::of("A-Za-z0-9_.!@#%^&*+~/:=-");
    const MAX_COMMAND: usize = 160;
    let bytes = scan.bytes;
    let end = keyword.start + usize::from(bytes[keyword.start] == b'|');
    let before = &bytes[end.saturating_sub(MAX_COMMAND)..end];
    let Some(pipe) = before
        .iter()
        .rposition(|byte| matches!(byte, b'|' | b'\n' | b';'))
    else {
        return;
    };
    if before[pipe] != b'|' {
        return;
    }
    // A column of a table has the same name.
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let prints = |word: &&[u8]| matches!(*word, b"echo" | b"printf" | b"yes" | b"(echo" | b"(printf");
    if end > keyword.start && !line.split(u8::is_ascii_whitespace).any(|word| prints(&word)) {
        return;
    }
    // Of `(echo x; echo x) | …` too.
    let pipe = Class::of(" \t)").run_back(bytes, end - before.len() + pipe, 8);
    let Some(last) = pipe.checked_sub(1).map(|at| bytes[at]) else {
        return;
    };
    let (start, end) = if matches!(last, b'"' | b'\'') {
        let before = &bytes[pipe.saturating_sub(256)..pipe - 1];
        let Some(open) = before.iter().rposition(|byte| *byte == last) else {
            return;
        };
        (pipe - 1 - before.len() + open + 1, pipe - 1)
    } else {
        (WORD.run_back(bytes, pipe, 256), pipe)
    };
    let Some(text) = scan.text.get(start..end) else {
        return;
    };
    let user = text.find(':').filter(|_| scan.text[keyword].starts_with("chp"));
    let start = user.map_or(start, |colon| start + colon + 1);
    // An item of a list: `a|b|c`.
    let is_item = start.checked_sub(1).is_some_and(|at| bytes[at] == b'|');
    if end - start >= 3 && !is_item && !is_stand_in(text) && !text.contains(".txt") && text != "-" {
        scan.found("command-password", Certainty::Place, start..end);
    }
}

/// Finds the password of any program that takes `-u USER -p PASSWORD`, if it is no ordinary word.
pub(crate) fn after_user(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_BEFORE: usize = 160;
    let bytes = scan.bytes;
    let value = word(bytes, Class::of(" \t").run(bytes, keyword.end, 4));
    let Some(text) = scan.text.get(value.clone()).filter(|text| is_made(text)) else {
        return;
    };
    let before = &bytes[keyword.start.saturating_sub(MAX_BEFORE)..keyword.start];
    let command = before
        .rsplit(|byte| b"\n|;&".contains(byte))
        .next()
        .unwrap_or_default();
    let mut words = command.split(u8::is_ascii_whitespace);
    let names_user =
        |word: &[u8]| matches!(word, b"-u" | b"-U" | b"--user" | b"--username" | b"-user" | b"-l");
    let has_user = words.any(names_user) && words.next().is_some_and(|user| !user.starts_with(b"-"));
    if has_user && !is_stand_in(text) {
        scan.found("command-password", Certainty::Place, value);
    }
}

/// Finds the password in `htpasswd -b FILE USER PASSWORD`, or `htpasswd -nb USER PASSWORD`.
pub(crate) fn htpasswd(scan: &mut Scan<'_>, keyword: Range<usize>) {
    const MAX_COMMAND: usize = 512;
    let bytes = scan.bytes;
    let limit = bytes.len().min(keyword.end + MAX_COMMAND);
    let (mut at, mut words, mut is_batch, mut has_file) = (keyword.end, 0, false, true);
    while at < limit {
        at = Class::of(" \t").run(bytes, at, 16);
        let word = word(bytes, at);
        if word.is_empty() {
            return;
        }
        if bytes[word.start] == b'-' && words == 0 {
            is_batch |= bytes[word.clone()].contains(&b'b');
            has_file &= !bytes[word.clone()].contains(&b'n');
        } else if words == 1 + usize::from(has_file) {
            let is_real = scan.text.get(word.clone()).is_some_and(|text| !is_stand_in(text));
            if is_batch && word.len() >= 3 && is_real {
                scan.found("command-password", Certainty::Place, word);
            }
            return;
        } else {
            words += 1;
        }
        at = word.end + usize::from(matches!(bytes.get(word.end), Some(b'"' | b'\'')));
    }
}

/// Returns whether a word after a flag shows that the text is about the flag.
fn is_prose_word(word: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "is", "are", "was", "to", "and", "or", "for", "from", "if", "in", "on", "as", "with", "when", "flag",
        "flags", "option", "options", "argument", "arguments", "parameter", "value", "values", "file",
        "instead", "must", "can", "should", "will", "has", "does", "the", "via", "not", "because", "then",
        "but", "that", "which", "into", "only", "prompt", "prompts", "field", "input", "reset", "store",
        "manager", "string",
    ];
    WORDS.contains(
        &word
            .trim_end_matches([',', '.', ':', '?', '!'])
            .to_ascii_lowercase()
            .as_str(),
    )
}
