//! The table of token rules: keywords and the pattern after them.
//!
//! Sources: the issuers' documentation and the public rule sets of gitleaks and GitHub secret scanning. Lengths are those of
//! issued tokens. There is no maximum if the issuer announced that lengths may change.

use crate::pattern::Part::{Run, Text};
use crate::pattern::{Class, OPEN};
use crate::token::{TokenRule, rule};

const ALNUM: Class = Class::ALNUM;
const WORD: Class = Class::WORD;
const URL64: Class = Class::BASE64_URL;
const HEX: Class = Class::LOWER_HEX;

mod services;

/// Number of rules.
pub(crate) const COUNT: usize = COMMON.len() + services::SERVICES.len();

/// The rules. If two overlap, the union of both ranges is masked with the name of the first finding.
pub(crate) static TOKENS: [&TokenRule; COUNT] = {
    let mut all = [&COMMON[0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        all[at] = if at < COMMON.len() {
            &COMMON[at]
        } else {
            &services::SERVICES[at - COMMON.len()]
        };
        at += 1;
    }
    all
};

/// The rules of the most common services and of standard formats.
#[rustfmt::skip]
const COMMON: &[TokenRule] = &[
    // -- AI services
    rule("anthropic-api-key", &["sk-ant-"], &[Run(URL64, 20, OPEN)]),
    rule("openrouter-api-key", &["sk-or-v1-"], &[Run(HEX, 48, OPEN)]),
    rule("langfuse-secret-key", &["sk-lf-"], &[Run(Class::DASHED, 30, OPEN)]),
    // OpenAI project, service-account or admin key.
    rule("openai-api-key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"],
        &[Run(URL64, 20, OPEN)]),
    // OpenAI key of the old form, also DeepSeek's and others'.
    rule("openai-api-key", &["sk-"], &[Run(ALNUM, 32, OPEN)]).at_word_start(),
    rule("perplexity-api-key", &["pplx-"], &[Run(ALNUM, 32, OPEN)]).at_word_start(),
    rule("tavily-api-key", &["tvly-"], &[Run(URL64, 20, OPEN)]).at_word_start(),
    rule("groq-api-key", &["gsk_"], &[Run(ALNUM, 40, OPEN)]).at_word_start(),
    rule("xai-api-key", &["xai-"], &[Run(ALNUM, 60, OPEN)]).at_word_start(),
    rule("replicate-token", &["r8_"], &[Run(ALNUM, 37, 40)]).at_word_start(),
    rule("nvidia-api-key", &["nvapi-"], &[Run(URL64, 40, OPEN)]).at_word_start(),
    rule("huggingface-token", &["hf_", "api_org_"], &[Run(ALNUM, 30, 48)]).at_word_start(),
    rule("langsmith-api-key", &["lsv2_pt_", "lsv2_sk_"], &[Run(HEX, 32, 32), Text("_"), Run(HEX, 8, 16)]),
    rule("pinecone-api-key", &["pcsk_"], &[Run(WORD, 40, OPEN)]).at_word_start(),
    rule("aws-bedrock-api-key", &["ABSK"], &[Run(Class::BASE64, 100, OPEN)]).at_word_start(),
    // -- Code hosts and package registries
    // GitHub personal, OAuth, app or refresh token.
    rule("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], &[Run(ALNUM, 36, OPEN)]),
    // GitHub fine-grained token.
    rule("github-token", &["github_pat_"], &[Run(WORD, 50, OPEN)]),
    // GitLab personal, deploy, runner, trigger, feed or agent token.
    rule("gitlab-token",
        &["glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-", "glimt-",
          "glffct-"], &[Run(URL64, 20, OPEN)]),
    // GitLab runner registration token.
    rule("gitlab-token", &["GR1348941"], &[Run(URL64, 20, OPEN)]),
    rule("bitbucket-token", &["ATBB"], &[Run(ALNUM, 32, OPEN)]).at_word_start(),
    rule("atlassian-token", &["ATATT3xFfGF0", "ATCTT3xFfGN0", "atatt3xffgf0", "atctt3xffgn0"], &[Run(Class::of("A-Za-z0-9_=-"), 60, OPEN)]),
    rule("npm-token", &["npm_"], &[Run(ALNUM, 36, 64)]).at_word_start(),
    rule("pypi-token", &["pypi-AgE", "pypi-age"], &[Run(URL64, 50, OPEN)]),
    rule("crates-io-token", &["cio"], &[Run(ALNUM, 32, 32)]).at_word_start(),
    rule("rubygems-token", &["rubygems_"], &[Run(HEX, 48, 48)]),
    rule("nuget-api-key", &["oy2"], &[Run(Class::LOWER, 43, 43)]).at_word_start(),
    rule("clojars-token", &["CLOJARS_"], &[Run(Class::LOWER, 60, 60)]),
    rule("docker-hub-token", &["dckr_pat_", "dckr_oat_"], &[Run(URL64, 27, OPEN)]),
    rule("jfrog-token", &["AKCp8", "cmVmdGtu"], &[Run(ALNUM, 56, OPEN)]).at_word_start(),
    rule("sourcegraph-token", &["sgp_"], &[Run(WORD, 40, OPEN)]).at_word_start(),
    rule("buildkite-token", &["bkua_", "bkat_"], &[Run(ALNUM, 40, 64)]).at_word_start(),
    rule("circleci-token", &["CCIPAT_", "CCIPRJ_"], &[Run(ALNUM, 20, 24), Text("_"), Run(Class::LOWER, 40, 40)]),
    rule("sonarqube-token", &["squ_", "sqp_", "sqa_"], &[Run(HEX, 40, 40)]).at_word_start(),
    // -- Clouds and hosting
    rule("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], &[Run(Class::UPPER, 16, 16)]).at_word_start(),
    // In lower case, as log pipelines write it.
    rule("aws-access-key-id", &["akia", "asia"], &[Run(Class::LOWER, 16, 16)]).at_word_start().with_digit(),
    rule("gcp-api-key", &["AIza", "aiza"], &[Run(URL64, 35, OPEN)]).at_word_start().with_digit(),
    rule("gcp-oauth-secret", &["GOCSPX-", "gocspx-"], &[Run(URL64, 28, OPEN)]),
    rule("gcp-oauth-token", &["ya29."], &[Run(Class::of("A-Za-z0-9_.-"), 30, OPEN)]).at_word_start(),
    rule("gcp-refresh-token", &["1//0"], &[Run(URL64, 40, OPEN)]).at_word_start(),
    rule("azure-client-secret", &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"],
        &[Run(Class::of("A-Za-z0-9_~.-"), 31, 34)]).reaching_back(Class::of("A-Za-z0-9_~.-"), 3, 3),
    rule("azure-storage-key", &["AccountKey="],
        &[Run(Class::of("A-Za-z0-9+/"), 40, 88), Text("="), Run(Class::of("="), 0, 1)]),
    rule("azure-shared-access-key", &["SharedAccessKey="],
        &[Run(Class::of("A-Za-z0-9+/"), 40, 88), Text("="), Run(Class::of("="), 0, 1)]),
    rule("azure-sas-signature", &["&sig=", "?sig="], &[Run(Class::of("A-Za-z0-9%+/=_-"), 40, OPEN)]),
    rule("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], &[Run(HEX, 64, 64)]),
    rule("heroku-api-key", &["HRKU-"], &[Run(URL64, 36, OPEN)]),
    rule("fly-io-token", &["fo1_", "fm1_", "fm1a_", "fm1r_", "fm2_"],
        &[Run(Class::of("A-Za-z0-9+/=_-"), 40, OPEN)]).at_word_start(),
    rule("netlify-token", &["nfp_"], &[Run(ALNUM, 36, OPEN)]).at_word_start(),
    rule("cloudflare-origin-ca-key", &["v1.0-"], &[Run(HEX, 24, 24), Text("-"), Run(HEX, 146, 146)]).at_word_start(),
    rule("supabase-token", &["sbp_", "sb_secret_"], &[Run(WORD, 30, OPEN)]).at_word_start(),
    rule("planetscale-token", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        &[Run(Class::of("A-Za-z0-9_=.-"), 32, OPEN)]),
    rule("databricks-token", &["dapi"], &[Run(HEX, 32, 32)]).at_word_start(),
    rule("tailscale-key", &["tskey-auth-", "tskey-api-", "tskey-client-", "tskey-webhook-"],
        &[Run(Class::DASHED, 20, OPEN)]),
    rule("terraform-cloud-token", &[".atlasv1."],
        &[Run(Class::of("A-Za-z0-9_=-"), 60, OPEN)]).reaching_back(ALNUM, 14, 14),
    rule("pulumi-token", &["pul-"], &[Run(HEX, 40, 40)]).at_word_start(),
    rule("openshift-token", &["sha256~"], &[Run(URL64, 43, 43)]).at_word_start(),
    rule("mapbox-token", &["sk.eyJ"], &[Run(URL64, 20, OPEN), Text("."), Run(URL64, 20, 24)]).at_word_start(),
    rule("alibaba-access-key-id", &["LTAI"], &[Run(ALNUM, 16, 22)]).at_word_start(),
    // Yandex Cloud IAM token.
    rule("yandex-token", &["t1."],
        &[Run(Class::of("A-Za-z0-9_=-"), 60, OPEN), Text("."), Run(Class::of("A-Za-z0-9_=-"), 80,
          OPEN)]).at_word_start(),
    // Yandex Cloud API key.
    rule("yandex-token", &["AQVN"], &[Run(URL64, 34, 38)]).at_word_start(),
    rule("neon-api-key", &["napi_"], &[Run(Class::LOWER, 40, OPEN)]).at_word_start(),
    rule("render-api-key", &["rnd_"], &[Run(ALNUM, 28, 40)]).at_word_start(),
    rule("clickhouse-cloud-key", &["4b1d"], &[Run(ALNUM, 38, 38)]).at_word_start(),
    rule("mongodb-atlas-secret", &["mdb_sa_sk_"], &[Run(URL64, 40, OPEN)]),
    // -- Secret stores
    rule("vault-token", &["hvs.", "hvb.", "hvr."], &[Run(URL64, 24, OPEN)]).at_word_start(),
    rule("age-secret-key", &["AGE-SECRET-KEY-1"], &[Run(Class::UPPER, 50, OPEN)]),
    rule("doppler-token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim."],
        &[Run(Class::of("A-Za-z0-9_.-"), 40, OPEN)]).at_word_start(),
    rule("onepassword-token", &["ops_eyJ"], &[Run(Class::of("A-Za-z0-9+/=_-"), 200, OPEN)]),
    rule("onepassword-secret-key", &["A3-"],
        &[Run(Class::UPPER, 6, 6), Text("-"), Run(Class::UPPER, 6, 11), Text("-"), Run(Class::UPPER, 5, 5), Text("-"),
          Run(Class::UPPER, 5, 5), Text("-"), Run(Class::UPPER, 5, 5)]).at_word_start(),
    // -- Chat, project tools and social networks
    rule("slack-token",
        &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxo-", "xoxc-", "xoxd-", "xoxe-", "xoxe.xoxb-", "xoxe.xoxp-",
          "xapp-"], &[Run(Class::of("A-Za-z0-9%-"), 16, OPEN)]),
    rule("slack-webhook", &["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        &[Run(Class::of("A-Za-z0-9/"), 30, OPEN)]),
    rule("discord-webhook", &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        &[Run(Class::DIGIT, 15, 22), Text("/"), Run(URL64, 40, OPEN)]),
    rule("teams-webhook", &["webhook.office.com/webhookb2/"], &[Run(Class::of("A-Za-z0-9/@-"), 60, OPEN)]),
    rule("telegram-bot-token", &[":AA"], &[Run(URL64, 32, 34)]).reaching_back(Class::DIGIT, 8, 10),
    rule("linear-api-key", &["lin_api_", "lin_oauth_"], &[Run(ALNUM, 40, OPEN)]),
    rule("notion-token", &["ntn_", "secret_"], &[Run(ALNUM, 43, 50)]).at_word_start(),
    rule("figma-token", &["figd_"], &[Run(URL64, 40, OPEN)]).at_word_start(),
    rule("airtable-token", &["pat"], &[Run(ALNUM, 14, 14), Text("."), Run(HEX, 64, 64)]).at_word_start(),
    rule("postman-api-key", &["PMAK-"], &[Run(HEX, 24, 24), Text("-"), Run(HEX, 34, 34)]),
    rule("readme-api-key", &["rdme_"], &[Run(Class::LOWER, 70, 70)]).at_word_start(),
    rule("hubspot-token", &["pat-na", "pat-eu", "pat-ap"],
        &[Run(Class::DIGIT, 1, 2), Text("-"), Run(HEX, 8, 8), Text("-"), Run(Class::of("a-f0-9-"), 27,
          27)]).at_word_start(),
    rule("launchdarkly-key", &["sdk-", "api-"],
        &[Run(HEX, 8, 8), Text("-"), Run(HEX, 4, 4), Text("-"), Run(HEX, 4, 4), Text("-"), Run(HEX, 4, 4), Text("-"),
          Run(HEX, 12, 12)]).at_word_start(),
    rule("dropbox-token", &["sl."], &[Run(Class::of("A-Za-z0-9_.-"), 120, OPEN)]).at_word_start(),
    rule("meta-access-token", &["EAAG", "EAAM", "EAAC"], &[Run(ALNUM, 100, OPEN)]).at_word_start(),
    rule("twitter-bearer-token", &["AAAAAAAAAAAAAAAAAAAAA"],
        &[Run(Class::of("A-Za-z0-9%"), 60, 120)]).at_word_start(),
    rule("contentful-token", &["CFPAT-"], &[Run(URL64, 40, OPEN)]),
    // -- Payments
    rule("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"],
        &[Run(ALNUM, 16, OPEN)]),
    rule("webhook-secret", &["whsec_"], &[Run(Class::BASE64, 24, OPEN)]).at_word_start(),
    // Square access token or secret.
    rule("square-token", &["sq0atp-", "sq0csp-", "sq0idp-"], &[Run(URL64, 22, OPEN)]),
    // Square access token of the new form.
    rule("square-token", &["EAAA"], &[Run(URL64, 60, 60)]).at_word_start(),
    rule("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_", "SHPAT_"], &[Run(Class::HEX, 32, 32)]),
    rule("plaid-token", &["access-production-", "access-sandbox-", "access-development-"],
        &[Run(Class::of("a-f0-9-"), 36, 36)]),
    rule("paypal-braintree-token", &["access_token$production$", "access_token$sandbox$"],
        &[Run(Class::LOWER, 16, 16), Text("$"), Run(HEX, 32, 32)]),
    rule("flutterwave-key", &["FLWSECK-", "FLWSECK_TEST-"], &[Run(ALNUM, 12, 40), Text("-X")]),
    // -- Mail and telephony
    rule("sendgrid-api-key", &["SG."], &[Run(URL64, 16, 32), Text("."), Run(URL64, 16, 64)]).at_word_start(),
    // In lower case, as log pipelines and file systems write it.
    rule("sendgrid-api-key", &["sg."], &[Run(URL64, 22, 22), Text("."), Run(URL64, 43, OPEN)]).at_word_start().with_digit(),
    rule("mailgun-key", &["key-"], &[Run(HEX, 32, 32)]).at_word_start(),
    rule("mailchimp-key", &["-us"], &[Run(Class::DIGIT, 1, 2)]).reaching_back(HEX, 32, 32),
    rule("brevo-key", &["xkeysib-", "xsmtpsib-"], &[Run(HEX, 64, 64), Text("-"), Run(ALNUM, 16, 16)]),
    rule("resend-api-key", &["re_"], &[Run(ALNUM, 8, 8), Text("_"), Run(ALNUM, 24, 24)]).at_word_start(),
    rule("twilio-api-key",
        &["SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe",
          "SKf"], &[Run(HEX, 31, 31)]).at_word_start(),
    // -- Monitoring
    rule("newrelic-key", &["NRAK-"], &[Run(Class::UPPER, 27, 27)]),
    rule("newrelic-key", &["nrak-"], &[Run(Class::LOWER, 27, 27)]).with_digit(),
    // Grafana service account token.
    rule("grafana-token", &["glsa_"], &[Run(ALNUM, 32, 32), Text("_"), Run(Class::HEX, 8, 8)]),
    // Grafana Cloud token.
    rule("grafana-token", &["glc_"], &[Run(Class::BASE64, 40, OPEN)]).at_word_start(),
    // Sentry user token.
    rule("sentry-token", &["sntryu_"], &[Run(HEX, 64, 64)]),
    // Sentry organisation token.
    rule("sentry-token", &["sntrys_"], &[Run(Class::of("A-Za-z0-9+/=_-"), 60, OPEN)]),
    rule("dynatrace-token", &["dt0c01.", "dt0s01.", "dt0s16."],
        &[Run(Class::UPPER, 24, 24), Text("."), Run(Class::UPPER, 64, 64)]),
    // -- Standard formats
    rule("private-key",
        &["LS0tLS1CRUdJTiBSU0Eg", "LS0tLS1CRUdJTiBQUklW", "LS0tLS1CRUdJTiBFQyBQ", "LS0tLS1CRUdJTiBPUEVO",
          "LS0tLS1CRUdJTiBFTkNS"], &[Run(Class::BASE64, 40, OPEN)]),
    rule("jwt", &["eyJ"],
        &[Run(URL64, 12, OPEN), Text("."), Run(URL64, 12, OPEN), Text("."), Run(URL64, 0, OPEN)]).at_word_start(),
];
