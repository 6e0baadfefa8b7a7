//! The words around a generated token: those that say what it is a secret, and those that say it is public.

use crate::MASK_START;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Words for a secret, in lower case, in the languages of prompts.
#[rustfmt::skip]
const SECRET_WORDS: &[&str] = &[
    // English, and names in programs.
    "key", "token", "secret", "password", "passwd", "passphrase", "passcode", "pass", "pwd", 
    "bearer", "credential", "credentials", "creds", "serial", "license", "licence", "seed", "salt", "webhook", "oauth", "login",
    "pw", "auth", "keys", "tokens", "secrets", "authkey", "creds",
    // Other languages.
    "schlüssel", "passwort", "kennwort", "geheimnis", "clé", "jeton", "clave", "llave", "contraseña", "secreto", "chave", "senha",
    "segredo", "chiave", "segreto", "sleutel", "wachtwoord", "geheim", "klucz", "hasło", "anahtar", "anahtarı", "şifre",
    "şifresi", "parola", "cheia", "cheie", "ключ", "ключом", "токен", "токена", "токеном", "пароль", "секрет", "nyckel", "lösenord",
    "nøgle", "nøkkel", "avain", "salasana", "klíč", "heslo", "kulcs", "jelszó", "kunci", "sandi", "khóa", "nyckeln", "nøglen",
    "nøkkelen", "schlüssels", "sleutels", "klucza", "kluczem", "ключа", "ключу",
    "токену", "tokenet", "tokenul", "cheia", "avaimen", "klíče", "kulcsa", "κλειδιά", "κλειδί", "κωδικός",
];

/// Words for a secret where no spaces separate words.
#[rustfmt::skip]
const SECRET_SIGNS: &[&str] = &[
    "密钥", "密鑰", "秘钥", "密码", "密碼", "令牌", "口令", "鍵", "キー", "トークン", "シークレット", "パスワード", "키", "토큰", "비밀", "ключ", "токен",
];

/// Endings of longer words for a secret: `authkey`, `Zugriffsschlüssel`.
#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "key", "token", "secret", "password", "passwort", "passphrase", "schlüssel", "sleutel", "nyckel", "nøgle", "nøkkel",
];

/// Words that say alone that a token is a credential.
const PRECISE_SECRETS: &[&str] = &[
    "pat",
    "psk",
    "apikey",
    "appkey",
    "secret",
    "pepper",
    "appid",
    "secretkey",
    "privatekey",
    "masterkey",
    "clientsecret",
    "relogin",
    "privkey",
    "секрет",
    "geheimnis",
    "segreto",
    "secreto",
    "segredo",
    "authtoken",
    "accesstoken",
    "apitoken",
];

/// Words that end in a word for a secret by chance, or whose values are public.
const OTHER_WORDS: &[&str] = &[
    "monkey", "turkey", "hockey", "donkey", "whiskey", "jockey", "hotkey", "passkey",
];

/// Names of keys and tokens that are public.
const BOTH_PUBLIC: &[&str] = &[
    "foreignkey",
    "primarykey",
    "sortkey",
    "partitionkey",
    "cachekey",
    "publickey",
    "pagetoken",
    "nexttoken",
    "continuationtoken",
    "mapkey",
    "subkey",
];

/// Words that say that a key or token is a credential.
#[rustfmt::skip]
const PRECISE: &[&str] = &[
    "api", "hmac", "secret", "master", "encryption", "signing", "private", "access", "webhook", "admin", "auth", "personal",
    "credential", "credentials", "oauth", "bearer", "salt", "seed", "deploy", "upload", "wallet", "deployer", "signer", "live",
    "prod", "aes", "luks", "github", "gitlab", "slack", "discord", "telegram", "stripe", "openai", "anthropic", "google", "aws",
    "gcp", "session", "app", "client", "bot", "reset", "invite", "magic", "refresh", "shared", "storage", "ingest", "integration",
    "geheimer", "secrète", "secreta", "segreta", "секретный",
    "tajny", "gizli",
];

/// Words that make a word for a secret say nothing when they precede it: "cache key", "public key".
#[rustfmt::skip]
const HARMLESS_BEFORE: &[&str] = &[
    "public", "cache", "primary", "foreign", "partition", "sort", "map", "object", "hash", "lookup", "page", "next", "continuation",
    "cursor", "sync", "dedup", "idempotency", "publishable", "site", "row", "node", "peer", "verifying", "verification", "query",
    "websocket",
];

/// Words for what is public although it looks random.
#[rustfmt::skip]
const PUBLIC_WORDS: &[&str] = &[
    "integrity", "checksum", "checksums", "hash", "hashes", "digest", "sha", "sha1", "sha256", "sha384", "sha512", "md5", "blake",
    "blake3", "commit", "commits", "rev", "revision", "etag", "id", "ids", "uuid", "guid", "ulid", "fingerprint", "cert", "certificate",
    "nonce", "thumbprint", "pubkey", "public", "address", "addr", "contract", "txid", "tx", "transaction", "block", "kid", "jti",
    "trace", "span", "request", "image", "layer", "blob", "tree", "build", "boundary", "cursor", "alphabet", "charset", "cid", "ipfs",
    "container", "mint", "program", "account", "ref", "version", "encoded", "expected", "actual", "assert", "vector",
    "ciphertext", "plaintext", "signature", "sig", "identifier", "url", "uri", "path", "file", "chunk", "asset", "slug", "sum", "h1",
    "mappings", "resolved", "challenge", "snapshot", "sample", "secure", "encrypted", "peer", "node", "ssh", "rsa", "ed25519",
];

/// What the words before a token say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// Nothing.
    Nothing,
    /// That it is public.
    Public,
    /// That it may be a secret.
    Secret,
    /// That it is a secret: a word for a key with one that says which key.
    KeyOfSomething,
    /// That it belongs to a service whose keys have no form of their own.
    Provider,
}

/// Maximum number of words before a token that count.
const MAX_WORDS: usize = 9;

/// Services whose names are words too, or stand before revisions.
#[rustfmt::skip]
const WORDS_TOO: &[&str] = &[
    "branch", "checkout", "line", "here", "render", "modal", "exa", "wit", "segment", "together", "harness", "polygon",
    "hunter", "clerk", "railway", "runway", "sentry", "npm", "azure", "firebase", "travis", "semaphore", "hyperbolic",
    "novita", "codecov", "coveralls", "bitbucket", "contentful", "fireworks", "recurly", "appcenter", "vercel", "snyk",
    "jira", "gitea", "bitrise", "appveyor", "sonar", "jenkins", "drone", "nexus", "artifactory", "teamcity", "grafana",
    "kibana", "elastic",
];

/// Services whose keys have no form of their own.
#[rustfmt::skip]
const PROVIDERS: &[&str] = &[
    "adyen", "ably", "ahrefs", "airbrake", "algolia", "alphavantage", "amplitude", "appsflyer", "asana",
    "assemblyai", "auth0", "baidu", "betterstack", "binance", "braintree", "bugsnag",
    "calendly", "cartesia", "cerebras", "chargebee", "clearbit", "clickup", "cloudflare", "cloudinary",
    "codacy", "cohere", "coinbase", "coinmarketcap", "convertkit", "customerio", "datadog",
    "dashscope", "deepgram", "deepl", "deepinfra", "deepseek", "dingtalk", "disqus", "docusign", "elevenlabs", "etherscan",
    "eventbrite", "fastly", "feishu", "finnhub", "firecrawl", "flickr", "foursquare", "freshdesk",
    "gandi", "geocodio", "giphy", "gladia", "gocardless", "godaddy", "graphhopper", "groq", "helpscout", 
    "hetzner", "honeybadger", "honeycomb", "huawei", "imgur", "infura", "intercom", "ipinfo", "ipstack",
    "jina", "kagi", "kakao", "keycdn", "klarna", "klaviyo", "kraken", "kucoin", "lastfm", "lambdalabs", "linode",
    "livekit", "locationiq", "logdna", "loggly", "logz", "lokalise", "mailchimp", "mailerlite", "mailgun", "mailjet", "mandrill",
    "mapbox", "mapquest", "maptiler", "marketstack", "messagebird", "minimax", "mistral", "mixpanel", "mollie", "moonshot",
    "naver", "newsapi", "newrelic", "nexmo", "ngrok", "octopus", "okta", "omdb", "onesignal", "opencage",
    "openrouteservice", "openweather", "openweathermap", "opsgenie", "ovh", "paddle", "pagerduty", "papertrail", "paypal", "paystack",
    "paytm", "pexels", "pingdom", "pinecone", "pipedrive", "plivo", "posthog", "postmark", "prismic", "pubnub", "pusher",
    "qdrant", "qiniu", "quandl", "rapidapi", "razorpay", "recaptcha", "hcaptcha", "turnstile", 
    "rollbar", "runpod", "sambanova", "scaleway", "scrapingbee", "sendbird", "sendinblue", 
    "serpapi", "serper", "shippo", "shodan", "siliconflow", "sinch", "skyscanner", "sonarcloud", "sparkpost", "splunk",
    "spotify", "stability", "statuspage", "storyblok", "stytch", "sumologic", "telnyx", "tencent", "thunderforest", "tinify",
    "tmdb", "togetherai", "tomtom", "travisci", "trello", "tinypng", "twitch", "twilio", "typeform", "unsplash",
    "uptimerobot", "virustotal", "voyage", "vonage", "vultr", "wakatime", "wandb", "weatherapi", "weaviate", "wechat",
    "weglot", "workos", "xata", "yelp", "yookassa", "youtube", "zapier", "zendesk", "zhipu", "zilliz", "zoho", "智谱", "通义", "百度",
];

/// The meanings of known words.
static WORDS: LazyLock<HashMap<&'static str, Sense>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    let lists = [
        (PROVIDERS, Sense::Provider),
        (WORDS_TOO, Sense::Precise),
        (PRECISE, Sense::Precise),
        (HARMLESS_BEFORE, Sense::Harmless),
        (OTHER_WORDS, Sense::Other),
        (SECRET_WORDS, Sense::Secret),
        (PRECISE_SECRETS, Sense::PreciseSecret),
        (PUBLIC_WORDS, Sense::Public),
        (BOTH_PUBLIC, Sense::Public),
    ];
    for (list, sense) in lists {
        words.extend(list.iter().map(|word| (*word, sense)));
    }
    words
});

/// What a word says about a token after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    /// Nothing.
    Other,
    /// That the token is public.
    Public,
    /// That the token is public, if a word for a secret follows: "cache key".
    Harmless,
    /// That it may be a secret.
    Secret,
    /// That it is a secret.
    PreciseSecret,
    /// That it is a secret, if a word for one follows or precedes it: "API key".
    Precise,
    /// The same, and if it directly precedes the token.
    Provider,
}

/// Returns what the words directly before a token say. The nearest word that says something counts.
pub(crate) fn said(before: &str) -> Said {
    let mask = memchr::memrchr(b'[', before.as_bytes()).and_then(|_| before.rfind(MASK_START));
    let before = match mask {
        Some(mask) => before
            .get(mask..)
            .and_then(|mask| mask.split_once(']'))
            .map_or("", |(_, rest)| rest),
        None => before,
    };
    let mut said = Said::Nothing;
    let (mut is_next, mut precise, mut provider) = (false, false, false);
    for (number, word) in words_back(before).take(MAX_WORDS).enumerate() {
        let sense = sense(word);
        if said == Said::Secret {
            match sense {
                Sense::Public | Sense::Harmless if is_next => return Said::Public,
                // "Auth token", "webhook key".
                Sense::Secret if is_next => return Said::KeyOfSomething,
                Sense::Provider | Sense::Precise | Sense::PreciseSecret => return Said::KeyOfSomething,
                _ => is_next = false,
            }
            continue;
        }
        match sense {
            Sense::Public => return Said::Public,
            Sense::PreciseSecret => return Said::KeyOfSomething,
            Sense::Secret if precise => return Said::KeyOfSomething,
            Sense::Secret => (said, is_next) = (Said::Secret, true),
            Sense::Provider => {
                precise = true;
                provider |= number < 4;
            }
            Sense::Precise => precise = true,
            Sense::Other | Sense::Harmless => {}
        }
    }
    if said == Said::Nothing && provider {
        Said::Provider
    } else {
        said
    }
}

/// What directly names a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directly {
    /// A word for a key or a token, and before it one that says which: "codecov token".
    AsKey,
    /// A word for a token or a secret. Keys, salts and serial numbers have other meanings.
    AsSecret,
}

/// Returns whether such a word, and at most a word for "is", directly precedes a token.
pub(crate) fn is_directly_named(before: &str, directly: Directly) -> bool {
    #[rustfmt::skip]
    const COPULAS: &[&str] = &["is", "ist", "lautet", "est", "es", "è", "é", "jest", "to", "это", "är", "er", "on", "este"];
    const TOKENS: &[&str] = &[
        "token",
        "secret",
        "jeton",
        "токен",
        "トークン",
        "令牌",
        "토큰",
        "секрет",
        "geheimnis",
        "segreto",
        "segredo",
    ];
    if before.trim_end().ends_with([',', ';', '.', ')', '/']) {
        return false;
    }
    let mut words = words_back(before).skip_while(|word| COPULAS.contains(word));
    words.next().is_some_and(|word| match directly {
        Directly::AsKey => {
            let is_precise = |word| matches!(sense(word), Sense::Precise | Sense::Provider);
            sense(word) == Sense::Secret && words.next().is_some_and(is_precise)
        }
        Directly::AsSecret => {
            let word = word.to_lowercase();
            TOKENS.iter().any(|token| word.contains(token))
        }
    })
}

/// Returns what one word says.
fn sense(word: &str) -> Sense {
    let lower;
    let word = if word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    {
        word
    } else {
        lower = word.to_lowercase();
        &lower
    };
    if let Some(sense) = WORDS.get(word) {
        return *sense;
    }
    if word.ends_with("apikey") || word.ends_with("secretkey") || word.ends_with("privatekey") {
        return Sense::PreciseSecret;
    }
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if ends(ENDINGS) || !word.is_ascii() && SECRET_SIGNS.iter().any(|sign| word.contains(sign)) {
        return Sense::Secret;
    }
    Sense::Other
}

/// The words of a text from its end, also those of `camelCase`.
fn words_back(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let mut start = rest.len();
        let mut next_is_upper = false;
        for (at, letter) in rest.char_indices().rev() {
            if !letter.is_alphanumeric() || next_is_upper && letter.is_lowercase() {
                break;
            }
            next_is_upper = letter.is_uppercase();
            start = at;
        }
        let (before, word) = rest.split_at(start);
        rest = before;
        (!word.is_empty()).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_counts() {
        for (before, expected) in [
            ("mistral key for codestral is ", Said::KeyOfSomething),
            ("智谱的 key 是 ", Said::Secret),
            ("adyen hmac key for notifications: ", Said::KeyOfSomething),
            ("токен ", Said::Secret),
            ("the token of commit ", Said::Public),
            ("const cacheKey = ", Said::Public),
            ("apiKey: ", Said::KeyOfSomething),
            ("the public key is ", Said::Public),
            ("request id ", Said::Public),
            ("nothing of that sort ", Said::Nothing),
            ("the monkey eats ", Said::Nothing),
        ] {
            assert_eq!(said(before), expected, "{before}");
        }
    }
}
