//! Classifies the names of assignments by the kind of their value.

/// The kind of secret that a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A password, chosen by a person: any word may be one.
    Password,
    /// A generated key or secret.
    Secret,
    /// An API key.
    ApiKey,
    /// A token. The word has many other meanings in programs.
    Token,
}

impl Meaning {
    /// Returns the name of the rule, as in the mask.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
            Self::ApiKey => "api-key",
            Self::Token => "token",
        }
    }
}

/// Maximum length of a name, in bytes. Only the end of a longer name counts.
pub(crate) const MAX_NAME: usize = 64;

/// The words of a name in lower case, without separators.
struct Words {
    letters: [u8; MAX_NAME],
    length: usize,
    /// The offsets of the words.
    starts: [usize; MAX_NAME],
    count: usize,
}

impl Words {
    fn of(name: &str) -> Self {
        let mut words = Self {
            letters: [0; MAX_NAME],
            length: 0,
            starts: [0; MAX_NAME],
            count: 0,
        };
        let bytes = name.as_bytes();
        let bytes = &bytes[bytes.len().saturating_sub(MAX_NAME)..];
        let mut previous = b'_';
        for (at, &byte) in bytes.iter().enumerate() {
            if byte.is_ascii_alphanumeric() {
                let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
                let starts = !previous.is_ascii_alphanumeric()
                    || previous.is_ascii_digit() != byte.is_ascii_digit()
                    || byte.is_ascii_uppercase() && (previous.is_ascii_lowercase() || next_is_lower);
                if starts {
                    words.starts[words.count] = words.length;
                    words.count += 1;
                }
                words.letters[words.length] = byte.to_ascii_lowercase();
                words.length += 1;
            }
            previous = byte;
        }
        words
    }

    fn joined(&self) -> &[u8] {
        &self.letters[..self.length]
    }

    fn last(&self) -> &[u8] {
        match self.count {
            0 => &[],
            count => &self.letters[self.starts[count - 1]..self.length],
        }
    }

    fn drop_last(&mut self) {
        self.count -= 1;
        self.length = self.starts[self.count];
    }
}

/// Words at the end of a name that do not change its meaning.
#[rustfmt::skip]
const TAILS: &[&[u8]] = &[
    b"v", b"dev", b"prod", b"production", b"staging", b"stage", b"test", b"testing", b"local", b"live",
    b"base", b"b", b"raw", b"value", b"val", b"plain", b"plaintext", b"old", b"new", b"current", b"default",
    b"string", b"str", b"hex", b"enc", b"hash", b"data", b"sandbox", b"primary", b"secondary", b"bytes",
    b"main", b"confirmation", b"confirm",
];

#[rustfmt::skip]
const PASSWORDS: &[&[u8]] = &[
    b"password", b"passwd", b"passphrase", b"passcode", b"passwort", b"motdepasse", b"contrasena",
    b"mysqlpwd", b"rediscliauth", b"userpwd", b"dbpwd", b"userpass", b"dbpass", b"mypass", b"rootpass",
    b"sshpass", b"senha", b"contrasena", b"parola", b"lozinka", b"salasana", b"haslo", b"heslo", b"jelszo", b"sifre", b"clave", b"adgangskode",
    b"kennwort", b"wachtwoord", b"losenord", b"kodeord", b"passord",
];

#[rustfmt::skip]
const SECRETS: &[&[u8]] = &[
    b"secret", b"secretkey", b"secretaccesskey", b"privatekey", b"encryptionkey", b"signingkey", b"masterkey",
    b"sharedkey", b"sharedaccesskey", b"accountkey", b"storagekey", b"sessionkey", b"hmackey", b"credential",
    b"credentials", b"accesskey", b"licensekey", b"deploykey", b"encryptkey", b"decryptkey", b"decryptionkey", b"validationkey", b"cipherkey",
    b"rootkey", b"presharedkey", b"cryptkey", b"cookiekey", b"hostkey", b"secretid", b"jsessionid",
    b"phpsessid", b"keymaterial", b"netsessionid", b"apppw", b"seedphrase", b"mnemonic",
];

#[rustfmt::skip]
const API_KEYS: &[&[u8]] = &[
    b"apikey", b"authkey", b"servicekey", b"serverkey", b"appkey", b"adminkey", b"clientkey",
    b"integrationkey", b"subscriptionkey", b"functionskey", b"projectkey", b"ingestionkey", b"writekey",
    b"apikeyid",
];

/// Names of tokens that are not secrets.
#[rustfmt::skip]
const HARMLESS_TOKENS: &[&[u8]] = &[
    b"pagetoken", b"nexttoken", b"continuationtoken", b"synctoken", b"cursortoken", b"cancellationtoken",
];

/// Returns `false` if the name cannot mean a secret. A fast check, because splitting every name would take most of the time.
fn may_mean_secret(name: &[u8]) -> bool {
    let folded = |bytes: &[u8]| (bytes[0] | 0x20, bytes[1] | 0x20, bytes[2] | 0x20);
    let known = |bytes: &[u8]| {
        matches!(
            folded(bytes),
            (b'p', b'a', b's')
                | (b'p', b'w', _)
                | (b'p', b's', b'w' | b'k')
                | (b's', b'e', b'c' | b's')
                | (b't', b'o', b'k')
                | (b'k', b'e', b'y')
                | (b'c', b'r', b'e')
                | (b'a', b'u', b't')
                | (b'r', b'a', b's')
        )
    };
    let ends =
        |end: &[u8]| name.len() >= end.len() && name[name.len() - end.len()..].eq_ignore_ascii_case(end);
    let foreign = match name {
        [.., a, b, c] => matches!(
            folded(&[*a, *b, *c]),
            (b'n', b'h', b'a')
                | (b'e' | b'a', b'n', b'a')
                | (b'o', b'l', b'a')
                | (b'n', b'k', b'a')
                | (b's', b'l' | b'z', b'o')
                | (b'f', b'r', b'e')
                | (b'a', b'v', b'e')
                | (b'g', b'd', b'e')
                | (b'o', b'r', b't' | b'd')
                | (b'e', b's' | b'z', b'o')
                | (b'm', b'd', b'p')
        ),
        _ => false,
    };
    foreign || name.windows(3).any(known) || ends(b"pw") || ends(b"_pat")
}

/// Returns the kind of secret that a name means.
pub(crate) fn meaning(name: &str) -> Option<Meaning> {
    if !may_mean_secret(name.as_bytes()) {
        return None;
    }
    let mut words = Words::of(name);
    while words.count > 1 && (TAILS.contains(&words.last()) || words.last().iter().all(u8::is_ascii_digit)) {
        words.drop_last();
    }
    let (joined, last) = (words.joined(), words.last());
    let ends = |list: &[&[u8]]| list.iter().any(|ending| joined.ends_with(ending));
    if ends(PASSWORDS) || matches!(last, b"pass" | b"pwd" | b"pw" | b"psw" | b"psk" | b"mdp") {
        Some(Meaning::Password)
    } else if ends(API_KEYS) {
        Some(Meaning::ApiKey)
    } else if ends(SECRETS) {
        Some(Meaning::Secret)
    } else if joined.ends_with(b"token") && !ends(HARMLESS_TOKENS)
        || last == b"auth" && name.starts_with('_')
        // A personal access token, such as `AZURE_DEVOPS_EXT_PAT`.
        || last == b"pat" && joined.len() > last.len()
    {
        Some(Meaning::Token)
    } else {
        None
    }
}

/// Returns whether the name hints at a secret. Shorter random values are secrets then.
pub(crate) fn hints(name: &str) -> bool {
    #[rustfmt::skip]
    const HINTS: &[&str] = &[
        "key", "auth", "cred", "pass", "secret", "token", "session", "cookie", "webhook", "license",
    ];
    let name = name.to_ascii_lowercase();
    HINTS.iter().any(|hint| name.contains(hint))
}

/// Returns whether values with this name are public although they look random: digests, revisions, identifiers, addresses.
pub(crate) fn is_public(name: &str) -> bool {
    #[rustfmt::skip]
    const PUBLIC: &[&[u8]] = &[
        b"integrity", b"checksum", b"hash", b"digest", b"sha", b"md", b"commit", b"rev", b"revision", b"etag",
        b"id", b"ids", b"uuid", b"guid", b"signature", b"fingerprint", b"cert", b"certificate", b"nonce",
        b"url", b"uri", b"src", b"href", b"path", b"file", b"filename", b"version", b"resolved", b"alphabet",
        b"charset", b"chars", b"characters", b"name", b"cursor", b"image", b"tag", b"ref", b"salt",
        b"identifier", b"table", b"sig", b"boundary",
    ];
    let mut words = Words::of(name);
    while words.count > 1 && words.last().iter().all(u8::is_ascii_digit) {
        words.drop_last();
    }
    // go.sum writes hashes as `h1:…`.
    PUBLIC.contains(&words.last())
        || name == "h1"
        || words.joined().starts_with(b"public")
        || words.joined().ends_with(b"publickey")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_classified_by_their_last_words() {
        let cases = [
            ("password", Some(Meaning::Password)),
            ("DB_PASS", Some(Meaning::Password)),
            ("spring.datasource.password", Some(Meaning::Password)),
            ("userPassword2", Some(Meaning::Password)),
            ("PASSWORD_PROD", Some(Meaning::Password)),
            ("AWS_SECRET_ACCESS_KEY", Some(Meaning::Secret)),
            ("clientSecret", Some(Meaning::Secret)),
            ("x-api-key", Some(Meaning::ApiKey)),
            ("OPENAI_API_KEY", Some(Meaning::ApiKey)),
            ("GITHUB_TOKEN", Some(Meaning::Token)),
            ("AZURE_DEVOPS_EXT_PAT", Some(Meaning::Token)),
            ("pat", None),
            ("_authToken", Some(Meaning::Token)),
            ("_auth", Some(Meaning::Token)),
            ("auth", None),
            ("bypass", None),
            ("compass", None),
            ("tokens", None),
            ("max_tokens", None),
            ("tokenizer", None),
            ("nextPageToken", None),
            ("secretName", None),
            ("password_field", None),
            ("private_key_id", None),
            ("publicKey", None),
            ("key", None),
            ("", None),
            ("1", None),
        ];
        for (name, expected) in cases {
            assert_eq!(meaning(name), expected, "{name}");
        }
    }
}
