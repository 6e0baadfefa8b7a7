//! Finds a generated value that is assigned to the bare name of a service: `codecov: 0f8a…`, `ADAFRUIT=b3ix…`. Such a name says that
//! the value is its key, although the value alone could be a digest or an id.
//!
//! Source of the names: services in the public rule sets of gitleaks and Betterleaks whose keys have no form of their own.

use crate::random::generated;
use crate::value::{has_digit, has_letter, is_hex, is_stand_in, is_uuid};

/// The least length of a key, in bytes.
const MIN_KEY: usize = 15;
/// The most length of a key, in bytes.
const MAX_KEY: usize = 128;

/// Services, in small letters.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "abuseipdb", "adafruit", "adobe", "airtable", "algolia", "alphavantage", "amplitude", "assemblyai", "asana",
    "auth0", "bitly", "bittrex", "braintree", "brevo", "bugsnag", "censys", "circleci", "civo", "cloudflare",
    "cloudinary", "codecov", "cohere", "coinbase", "coingecko", "confluent", "contentful", "datadog", "deepgram",
    "deepl", "deepseek", "discord", "droneci", "dropbox", "elevenlabs", "etherscan", "etsy", "facebook", "falai",
    "fastly", "finicity", "finnhub", "flickr", "freshbooks", "fullstory", "giphy", "gitea", "gitter", "gumroad",
    "heroku", "hibp", "honeycomb", "hubspot", "huggingface", "infobip", "infura", "ipinfo", "ipstack", "jumpcloud",
    "klaviyo", "kraken", "kucoin", "launchdarkly", "linkedin", "mailchimp", "mailgun", "mandrill", "mapbox",
    "mattermost", "meraki", "messagebird", "miro", "mistral", "mixpanel", "moralis", "netlify", "newrelic",
    "new_relic", "nexmo", "nytimes", "okta", "openweather", "opsgenie", "ovh", "pagerduty", "paypal", "pexels",
    "pinecone", "plaid", "postmark", "privateai", "rapidapi", "replicate", "rollbar", "scaleway", "segment",
    "sendbird", "sendgrid", "sendinblue", "sentry", "shodan", "shopify", "snyk", "sonarqube", "squarespace", "stripe",
    "sumologic", "telegram", "tiingo", "tomtom", "travis", "twilio", "twitter", "typeform", "unsplash", "upstage",
    "vercel", "virustotal", "vonage", "wakatime", "wandb", "weatherapi", "yandex", "zendesk",
];

/// Those whose keys are UUIDs.
#[rustfmt::skip]
const WITH_UUIDS: &[&str] = &[
    "codecov", "heroku", "hubspot", "kucoin", "opsgenie", "pinecone", "postmark", "scaleway", "sendbird", "snyk",
    "squarespace", "wakatime",
];

/// What may stand beside the name of a service without making the value something else than its key.
const STAGES: &[&str] = &["prod", "production", "staging", "dev", "test", "live", "sandbox"];

/// The service that a name names, and nothing else; `None` for `sentry_event` and `stripe_customer`.
pub(crate) fn service(name: &str) -> Option<&'static str> {
    let folded = name.trim_matches(['-', '_', '.']).to_ascii_lowercase();
    let is_bare = |text: &str| NAMES.iter().copied().find(|service| *service == text);
    is_bare(&folded).or_else(|| {
        let (head, tail) = folded.rsplit_once(['_', '-', '.'])?;
        match STAGES.contains(&tail) {
            true => is_bare(head),
            false => STAGES.contains(&head).then(|| is_bare(tail))?,
        }
    })
}

/// Whether a value may be a service's key.
pub(crate) fn is_key(service: &str, value: &str) -> bool {
    if !(MIN_KEY..=MAX_KEY).contains(&value.len())
        || is_stand_in(value)
        || !has_digit(value)
        || !has_letter(value)
    {
        return false;
    }
    if is_uuid(value) {
        return WITH_UUIDS.contains(&service);
    }
    let is_run = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"_-+/=".contains(&byte));
    is_run && (generated(value).is_some() || is_hex(value) && value.len() >= 20)
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    fn is_masked(text: &str) -> bool {
        Redactor::shared().redact(text).contains("[redacted")
    }

    #[test]
    fn a_generated_value_under_the_name_of_a_service_is_its_key() {
        for text in [
            "codecov: 7b21f0c4-93de-4c1a-8f70-5a1f0c9e2d37",
            "ADAFRUIT=b3ixgjk02e9irqwn38ve2130mj6xmyeq",
            "\"algolia\": \"9f2c1e7ab04d5683c1f0e2a79b4d8c35\"",
            "heroku-prod: 0c25e8b1-7a3b-4e29-a25f-6580e5582c35",
            "twitter = njv2q6qpqxh2wlmhhffnubxwg6j77qwu79mfhreefpsx6",
        ] {
            assert!(is_masked(text), "{text}");
        }
    }

    #[test]
    fn ids_versions_and_settings_of_a_service_stay() {
        for text in [
            "sentry: enabled-for-production-only",
            "sentry_event_id: 9f2c1e7ab04d5683c1f0e2a79b4d8c35",
            "stripe: 2024-10-28.acacia",
            "commit: 9f2c1e7ab04d5683c1f0e2a79b4d8c35aa01bb02",
            "datadog: 7b21f0c4-93de-4c1a-8f70-5a1f0c9e2d37",
            "vercel: https://app-7f3k2q.vercel.app",
            "twilio: see docs/twilio-setup-2024-notes.md",
            "discord: general-announcements-2024",
            "mapbox: mapbox/streets-v12-2024-hires",
        ] {
            assert!(!is_masked(text), "{text}: {}", Redactor::shared().redact(text));
        }
    }
}
