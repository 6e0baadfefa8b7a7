//! Tokens that are recognized by their form: generated ones are found, near misses are not.

use crate::services::SERVICES;
use grov_redact::Redactor;
use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;

/// The rule, the form of the token, and the form of a near miss. Patterns, so that no text in this file looks like a secret.
pub(crate) const FORMS: &[(&str, &str, &str)] = &[
    (
        "anthropic-api-key",
        "sk-ant-(api03|admin01|oat01)-[A-Za-z0-9_-]{80,95}AA",
        "sk-ant-[A-Z0-9]{8}",
    ),
    (
        "openrouter-api-key",
        "sk-or-v1-[0-9a-f]{64}",
        "sk-or-v1-[0-9a-f]{20}",
    ),
    (
        "langfuse-secret-key",
        "sk-lf-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "sk-lf-[0-9a-f]{8}",
    ),
    (
        "openai-api-key",
        "sk-(proj|svcacct|admin)-[A-Za-z0-9_-]{48,130}",
        "sk-proj-[A-Z0-9]{10}",
    ),
    ("openai-api-key", "sk-[A-Za-z0-9]{48}", "task-[A-Za-z0-9]{48}"),
    (
        "perplexity-api-key",
        "pplx-[A-Za-z0-9]{48}",
        "pplx-[A-Za-z0-9]{12}",
    ),
    (
        "tavily-api-key",
        "tvly-(dev-)?[A-Za-z0-9]{32}",
        "tvly-[A-Za-z0-9]{8}",
    ),
    ("groq-api-key", "gsk_[A-Za-z0-9]{52}", "gsk_[A-Za-z0-9]{20}"),
    ("xai-api-key", "xai-[A-Za-z0-9]{80}", "xai-[A-Za-z0-9]{20}"),
    ("replicate-token", "r8_[A-Za-z0-9]{37}", "r8_[A-Za-z0-9]{20}"),
    (
        "nvidia-api-key",
        "nvapi-[A-Za-z0-9_-]{64}",
        "nvapi-[A-Za-z0-9_-]{12}",
    ),
    ("huggingface-token", "hf_[A-Za-z]{34}", "hf_[A-Za-z]{12}"),
    (
        "langsmith-api-key",
        "lsv2_(pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
        "lsv2_pt_[0-9a-f]{32}",
    ),
    (
        "pinecone-api-key",
        "pcsk_[A-Za-z0-9]{5}_[A-Za-z0-9]{60}",
        "pcsk_[A-Za-z0-9]{12}",
    ),
    (
        "aws-bedrock-api-key",
        "ABSK[A-Za-z0-9+/]{109}=",
        "ABSK[A-Z0-9]{20}",
    ),
    (
        "github-token",
        "gh[pousr]_[A-Za-z0-9]{36}",
        "gh[pousr]_[A-Za-z0-9]{20}",
    ),
    (
        "github-token",
        "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
        "github_pat_[A-Za-z0-9]{22}",
    ),
    (
        "gitlab-token",
        "gl(pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_]{20}",
        "glpat-[A-Za-z0-9]{10}",
    ),
    (
        "gitlab-token",
        "GR1348941[A-Za-z0-9_]{20}",
        "GR1348941[A-Za-z0-9]{8}",
    ),
    ("bitbucket-token", "ATBB[A-Za-z0-9]{32}", "ATBB[A-Za-z0-9]{12}"),
    (
        "atlassian-token",
        "ATATT3xFfGF0[A-Za-z0-9_-]{170}=[0-9A-F]{8}",
        "ATATT3xFfGF0[A-Za-z0-9]{20}",
    ),
    ("npm-token", "npm_[A-Za-z0-9]{36}", "npm_config_[a-z]{36}"),
    (
        "pypi-token",
        "pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{70,160}",
        "pypi-[a-z]{8}-[a-z]{8}",
    ),
    ("crates-io-token", "cio[A-Za-z0-9]{32}", "spacio[A-Za-z0-9]{32}"),
    ("rubygems-token", "rubygems_[0-9a-f]{48}", "rubygems_[0-9a-f]{20}"),
    ("nuget-api-key", "oy2[a-z0-9]{43}", "oy2[a-z0-9]{20}"),
    ("clojars-token", "CLOJARS_[a-z0-9]{60}", "CLOJARS_[a-z0-9]{12}"),
    (
        "docker-hub-token",
        "dckr_(pat|oat)_[A-Za-z0-9_-]{27}",
        "dckr_pat_[A-Za-z0-9]{8}",
    ),
    (
        "jfrog-token",
        "(AKCp8|cmVmdGtu)[A-Za-z0-9]{60}",
        "AKCp8[A-Za-z0-9]{12}",
    ),
    (
        "sourcegraph-token",
        "sgp_[0-9a-f]{16}_[0-9a-f]{40}",
        "sgp_[0-9a-f]{16}",
    ),
    ("buildkite-token", "bk[u]a_[0-9a-f]{40}", "bkua_[0-9a-f]{12}"),
    (
        "circleci-token",
        "CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}",
        "CCIPAT_[A-Za-z0-9]{22}",
    ),
    (
        "aws-access-key-id",
        "(AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}",
        "AKIA[A-Z2-7]{20}",
    ),
    ("gcp-api-key", "AIza[A-Za-z0-9_-]{35}", "AIza[A-Za-z0-9_]{20}"),
    (
        "gcp-oauth-secret",
        "GOCSPX-[A-Za-z0-9_-]{28}",
        "GOCSPX-[A-Za-z0-9]{8}",
    ),
    (
        "gcp-oauth-token",
        "ya29\\.[A-Za-z0-9_-]{60,100}",
        "ya29\\.[A-Za-z0-9]{8}",
    ),
    (
        "gcp-refresh-token",
        "1//0[a-z0-9]{1}[A-Za-z0-9_-]{60}",
        "1//0[0-9]{4}",
    ),
    (
        "azure-client-secret",
        "[A-Za-z0-9_]{3}[78]Q~[A-Za-z0-9_~.-]{30}[A-Za-z0-9]",
        "[A-Za-z0-9]{3}8Q~[A-Za-z0-9]{12}",
    ),
    (
        "azure-storage-key",
        "AccountKey=[A-Za-z0-9+/]{86}==",
        "AccountName=[a-z]{12}",
    ),
    (
        "azure-shared-access-key",
        "SharedAccessKey=[A-Za-z0-9+/]{43}=",
        "SharedAccessKeyName=[A-Z][a-z]{12}",
    ),
    (
        "azure-sas-signature",
        "[?&]sig=[A-Za-z0-9]{20}%2B[A-Za-z0-9]{20}%3D",
        "[?&]sig=[a-z]{8}",
    ),
    (
        "digitalocean-token",
        "do[opr]_v1_[0-9a-f]{64}",
        "dop_v1_[0-9a-f]{20}",
    ),
    (
        "heroku-api-key",
        "HRKU-AA[A-Za-z0-9_-]{58}",
        "HRKU-AA[A-Za-z0-9]{8}",
    ),
    ("fly-io-token", "fm2_[A-Za-z0-9+/]{60}=", "fm2_[A-Za-z0-9]{12}"),
    ("netlify-token", "nfp_[A-Za-z0-9]{36}", "nfp_[A-Za-z0-9]{12}"),
    (
        "cloudflare-origin-ca-key",
        "v1\\.0-[0-9a-f]{24}-[0-9a-f]{146}",
        "v1\\.0-[0-9a-f]{24}",
    ),
    (
        "supabase-token",
        "(sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9]{22}_[A-Za-z0-9]{8})",
        "sbp_[0-9a-f]{12}",
    ),
    (
        "planetscale-token",
        "pscale_(tkn|pw|oauth)_[A-Za-z0-9_-]{43}",
        "pscale_tkn_[A-Za-z0-9]{8}",
    ),
    ("databricks-token", "dapi[0-9a-f]{32}", "dapi[0-9a-f]{20}"),
    (
        "tailscale-key",
        "tskey-(auth|api|client)-[A-Za-z0-9]{17}-[A-Za-z0-9]{32}",
        "tskey-auth-[A-Z]{6}",
    ),
    (
        "terraform-cloud-token",
        "[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_-]{67}",
        "[A-Za-z0-9]{5}\\.atlasv1\\.[A-Za-z0-9]{60}",
    ),
    ("pulumi-token", "pul-[0-9a-f]{40}", "pul-[0-9a-f]{12}"),
    (
        "openshift-token",
        "sha256~[A-Za-z0-9_-]{43}",
        "sha256:[0-9a-f]{64}",
    ),
    (
        "vault-token",
        "hv[sbr]\\.[A-Za-z0-9_-]{90,120}",
        "hvs\\.[A-Za-z0-9]{12}",
    ),
    (
        "age-secret-key",
        "AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}",
        "age1[02-9ac-hj-np-z]{58}",
    ),
    (
        "doppler-token",
        "dp\\.(pt|st|ct|sa)\\.[A-Za-z0-9]{43}",
        "dp\\.pt\\.[A-Za-z0-9]{12}",
    ),
    (
        "onepassword-token",
        "ops_eyJ[A-Za-z0-9+/]{250,300}=",
        "ops_eyJ[A-Za-z0-9]{12}",
    ),
    (
        "onepassword-secret-key",
        "A3-[A-Z0-9]{6}-[A-Z0-9]{6}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}",
        "A3-[A-Z0-9]{6}-[A-Z0-9]{6}",
    ),
    (
        "slack-token",
        "xox[bpars]-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{24}",
        "xoxb-[0-9]{6}",
    ),
    (
        "slack-webhook",
        "hooks\\.slack\\.com/services/T[A-Z0-9]{8}/B[A-Z0-9]{8}/[A-Za-z0-9]{24}",
        "hooks\\.slack\\.com/services/T[A-Z0-9]{8}",
    ),
    (
        "discord-webhook",
        "discord(app)?\\.com/api/webhooks/[0-9]{18}/[A-Za-z0-9_-]{68}",
        "discord\\.com/api/webhooks/[0-9]{18}",
    ),
    (
        "teams-webhook",
        "webhook\\.office\\.com/webhookb2/[0-9a-f]{8}-[0-9a-f]{27}@[0-9a-f]{36}/IncomingWebhook/[0-9a-f]{32}",
        "webhook\\.office\\.com/webhookb2/[0-9a-f]{8}",
    ),
    (
        "telegram-bot-token",
        "[1-9][0-9]{7,9}:AA[A-Za-z0-9_-]{33}",
        "[1-9][0-9]{4}:AA[A-Za-z0-9_-]{33}",
    ),
    (
        "linear-api-key",
        "lin_(api|oauth)_[A-Za-z0-9]{40}",
        "lin_api_[A-Za-z0-9]{12}",
    ),
    (
        "notion-token",
        "(secret_|ntn_)[A-Za-z0-9]{43,46}",
        "ntn_[A-Za-z0-9]{12}",
    ),
    ("figma-token", "figd_[A-Za-z0-9_-]{40}", "figd_[A-Za-z0-9]{12}"),
    (
        "airtable-token",
        "pat[A-Za-z0-9]{14}\\.[0-9a-f]{64}",
        "pat[A-Za-z0-9]{14}\\.[0-9a-f]{20}",
    ),
    (
        "postman-api-key",
        "PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
        "PMAK-[0-9a-f]{24}",
    ),
    ("readme-api-key", "rdme_[a-z0-9]{70}", "rdme_[a-z0-9]{20}"),
    (
        "stripe-key",
        "[sr]k_(live|test)_[A-Za-z0-9]{24,99}",
        "[sr]k_live_[A-Za-z0-9]{8}",
    ),
    ("webhook-secret", "whsec_[A-Za-z0-9]{32}", "whsec_[A-Za-z0-9]{8}"),
    (
        "square-token",
        "sq0(atp|csp)-[A-Za-z0-9_-]{22,43}",
        "sq0atp-[A-Za-z0-9]{8}",
    ),
    ("square-token", "EAAA[A-Za-z0-9_-]{60}", "EAAA[A-Za-z0-9_-]{20}"),
    (
        "shopify-token",
        "shp(at|ca|pa|ss)_[0-9a-fA-F]{32}",
        "shpat_[0-9a-f]{12}",
    ),
    (
        "plaid-token",
        "access-(production|sandbox)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "access-sandbox-[0-9a-f]{8}",
    ),
    (
        "paypal-braintree-token",
        "access_token\\$production\\$[0-9a-z]{16}\\$[0-9a-f]{32}",
        "access_token\\$production\\$[0-9a-z]{16}",
    ),
    (
        "flutterwave-key",
        "FLWSECK-[0-9a-f]{32}-X",
        "FLWPUBK-[0-9a-f]{32}-X",
    ),
    (
        "sendgrid-api-key",
        "SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}",
        "SG\\.[A-Za-z0-9_-]{8}\\.[A-Za-z]{8}",
    ),
    ("mailgun-key", "key-[0-9a-f]{32}", "monkey-[0-9a-f]{32}"),
    (
        "mailchimp-key",
        "[0-9a-f]{32}-us[1-9][0-9]?",
        "[0-9a-f]{8}-us[1-9]",
    ),
    (
        "brevo-key",
        "xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
        "xkeysib-[0-9a-f]{64}",
    ),
    (
        "resend-api-key",
        "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}",
        "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{12}",
    ),
    ("twilio-api-key", "SK[0-9a-f]{32}", "SK[0-9a-f]{20}"),
    ("newrelic-key", "NRAK-[A-Z0-9]{27}", "NRAK-[A-Z0-9]{12}"),
    (
        "grafana-token",
        "glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}",
        "glsa_[A-Za-z0-9]{12}",
    ),
    ("grafana-token", "glc_[A-Za-z0-9+/]{60}==", "glc_[A-Za-z0-9]{12}"),
    ("sentry-token", "sntryu_[0-9a-f]{64}", "sntryu_[0-9a-f]{12}"),
    (
        "sentry-token",
        "sntrys_[A-Za-z0-9+/=_]{80}",
        "sntrys_[A-Za-z0-9]{12}",
    ),
    (
        "dynatrace-token",
        "dt0c01\\.[A-Z2-7]{24}\\.[A-Z2-7]{64}",
        "dt0c01\\.[A-Z2-7]{24}",
    ),
    ("sonarqube-token", "sq[upa]_[0-9a-f]{40}", "squ_[0-9a-f]{12}"),
    (
        "mapbox-token",
        "sk\\.eyJ[A-Za-z0-9_-]{60,90}\\.[A-Za-z0-9_-]{22}",
        "sk\\.eyJ[A-Za-z0-9_-]{12}",
    ),
    (
        "alibaba-access-key-id",
        "LTAI(5t)?[A-Za-z0-9]{18}",
        "LTAI[A-Za-z0-9]{8}",
    ),
    (
        "yandex-token",
        "t1\\.[A-Za-z0-9_-]{100,200}\\.[A-Za-z0-9_-]{86}",
        "t1\\.[a-z]{12}\\.[a-z]{12}",
    ),
    ("yandex-token", "AQVN[A-Za-z0-9_-]{36}", "AQVN[A-Za-z0-9]{12}"),
    ("neon-api-key", "napi_[a-z0-9]{64}", "napi_[a-z]{12}"),
    ("render-api-key", "rnd_[A-Za-z0-9]{32}", "rnd_[a-z]{12}"),
    ("clickhouse-cloud-key", "4b1d[A-Za-z0-9]{38}", "4b1d[0-9a-f]{12}"),
    (
        "mongodb-atlas-secret",
        "mdb_sa_sk_[A-Za-z0-9_-]{40}",
        "mdb_sa_id_[0-9a-f]{24}",
    ),
    (
        "hubspot-token",
        "pat-(na1|eu1)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "pat-na1-[0-9a-f]{8}",
    ),
    (
        "launchdarkly-key",
        "(sdk|api)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "sdk-[0-9a-f]{8}-[0-9a-f]{4}",
    ),
    (
        "dropbox-token",
        "sl\\.u\\.[A-Za-z0-9_-]{130,150}",
        "sl\\.u\\.[a-z]{12}",
    ),
    (
        "meta-access-token",
        "EAA[GMC][A-Za-z0-9]{120,200}",
        "EAAG[A-Za-z0-9]{20}",
    ),
    (
        "twitter-bearer-token",
        "A{21}[A-Za-z0-9%]{80,100}",
        "A{21}[A-Za-z0-9]{12}",
    ),
    (
        "contentful-token",
        "CFPAT-[A-Za-z0-9_-]{43}",
        "CFPAT-[A-Za-z0-9]{12}",
    ),
    (
        "private-key",
        "LS0tLS1CRUdJTiB(SU0Eg|QUklW|PUEVO)[A-Za-z0-9+/]{200,300}=",
        "LS0tLS1CRUdJTiBDRVJU[A-Za-z0-9+/]{60}",
    ),
    (
        "jwt",
        "eyJ[A-Za-z0-9_-]{17,40}\\.eyJ[A-Za-z0-9_-]{30,80}\\.[A-Za-z0-9_-]{43}",
        "eyJ[A-Za-z0-9_-]{17,40}\\.eyJ",
    ),
    (
        "discord-bot-token",
        "[MN][A-Za-z0-9_-]{23}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9]{30,38}",
        "[MN][A-Za-z0-9_-]{23}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z]{8}",
    ),
];

fn examples(runner: &mut TestRunner, form: &str, count: usize) -> Vec<String> {
    let strategy = string_regex(form).unwrap();
    (0..count)
        .map(|_| strategy.new_tree(runner).unwrap().current())
        .collect()
}

#[test]
fn every_form_is_found_and_its_near_miss_is_not() {
    let redactor = Redactor::new();
    let mut runner = TestRunner::deterministic();
    let mut wrong = Vec::new();
    for (rule, form, near_miss) in FORMS.iter().chain(SERVICES) {
        for token in examples(&mut runner, form, 24) {
            for (before, after) in [
                ("", ""),
                ("use ", " now"),
                ("(", ")"),
                ("\"", "\","),
                ("\n", "\n"),
                ("\\n", "\\n"),
            ] {
                let text = format!("{before}{token}{after}");
                let expected = before.len()..before.len() + token.len();
                let found = redactor.findings(&text);
                let whole = found.iter().any(|f| {
                    f.rule == *rule && f.range.start <= expected.start && f.range.end >= expected.end
                });
                let expected = format!("{before}[redacted:{rule}]{after}");
                if !whole || redactor.redact(&text) != expected {
                    wrong.push(format!("{rule} in {text:?}: {found:?}"));
                }
            }
        }
        for text in examples(&mut runner, near_miss, 24) {
            // It may look random.
            let found = redactor.findings(&format!("see {text} ."));
            let found: Vec<_> = found.iter().filter(|f| f.rule != "high-entropy").collect();
            if !found.is_empty() {
                wrong.push(format!("near miss of {rule}: {text}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_case() {
    let contexts: Vec<&str> = crate::contexts::SECRETS.iter().map(|(rule, _)| *rule).collect();
    for rule in Redactor::rules() {
        // This rule finds two secrets in one text and has its own test.
        let own_test = rule == "aws-secret-access-key";
        let covered = own_test
            || FORMS.iter().chain(SERVICES).any(|(other, ..)| *other == rule)
            || contexts.contains(&rule);
        assert!(covered, "no case for {rule}");
    }
    let mut rules: Vec<&str> = Redactor::rules().collect();
    rules.sort_unstable();
    rules.dedup();
    assert!(rules.len() >= 160, "{} rules", rules.len());
}

#[test]
fn token_placeholders_stay() {
    let redactor = Redactor::new();
    for text in [
        "export ANTHROPIC_API_KEY=sk-ant-...".to_owned(),
        format!("sk-ant-api-{}", "key-goes-here-please"),
        format!("ghp_{}", "x".repeat(36)),
        format!("sk-ant-{}", "your-own-api-key-goes-here"),
        format!("AIza{}", "X".repeat(35)),
        format!("hf_{}", "*".repeat(34)),
    ] {
        assert_eq!(redactor.findings(&text), [], "{text}");
    }
}
