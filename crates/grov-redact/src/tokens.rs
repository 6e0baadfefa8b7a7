//! Keys and tokens that can be told by their own form: a table of keywords and what must follow them.
//!
//! Sources of the forms: the issuers' documentation and the public rule sets of gitleaks and GitHub secret scanning.
//! Lengths are those of issued tokens; where issuers announced that lengths may change, the upper limit is open.

use crate::pattern::Part::{Run, Text};
use crate::pattern::{Class, OPEN};
use crate::token::TokenRule;

const ALNUM: Class = Class::ALNUM;
const WORD: Class = Class::WORD;
const URL64: Class = Class::BASE64_URL;
const HEX: Class = Class::LOWER_HEX;

/// The rules. Where two match at one place, the wider range with the earlier rule's name is masked.
pub(crate) static TOKENS: &[TokenRule] = &[
    // Models and what surrounds them.
    TokenRule::new(
        "anthropic-api-key",
        "Anthropic API key, admin key or OAuth token",
        &["sk-ant-"],
        &[Run(URL64, 20, OPEN)],
    ),
    TokenRule::new(
        "openrouter-api-key",
        "OpenRouter API key",
        &["sk-or-v1-"],
        &[Run(HEX, 48, OPEN)],
    ),
    TokenRule::new(
        "langfuse-secret-key",
        "Langfuse secret key",
        &["sk-lf-"],
        &[Run(Class::DASHED, 30, OPEN)],
    ),
    TokenRule::new(
        "openai-api-key",
        "OpenAI project, service-account or admin key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"],
        &[Run(URL64, 20, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "openai-api-key",
        "OpenAI key of the old form, also DeepSeek's and others'",
        &["sk-"],
        &[Run(ALNUM, 32, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "perplexity-api-key",
        "Perplexity API key",
        &["pplx-"],
        &[Run(ALNUM, 32, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "tavily-api-key",
        "Tavily API key",
        &["tvly-"],
        &[Run(URL64, 20, OPEN)],
    )
    .at_word_start(),
    TokenRule::new("groq-api-key", "Groq API key", &["gsk_"], &[Run(ALNUM, 40, OPEN)]).at_word_start(),
    TokenRule::new("xai-api-key", "xAI API key", &["xai-"], &[Run(ALNUM, 60, OPEN)]).at_word_start(),
    TokenRule::new(
        "replicate-token",
        "Replicate API token",
        &["r8_"],
        &[Run(ALNUM, 37, 40)],
    )
    .at_word_start(),
    TokenRule::new(
        "nvidia-api-key",
        "NVIDIA API key",
        &["nvapi-"],
        &[Run(URL64, 40, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "huggingface-token",
        "Hugging Face user or organisation token",
        &["hf_", "api_org_"],
        &[Run(ALNUM, 30, 48)],
    )
    .at_word_start(),
    TokenRule::new(
        "langsmith-api-key",
        "LangSmith API key",
        &["lsv2_pt_", "lsv2_sk_"],
        &[Run(HEX, 32, 32), Text("_"), Run(HEX, 8, 16)],
    ),
    TokenRule::new(
        "pinecone-api-key",
        "Pinecone API key",
        &["pcsk_"],
        &[Run(WORD, 40, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "aws-bedrock-api-key",
        "Amazon Bedrock API key",
        &["ABSK"],
        &[Run(Class::BASE64, 100, OPEN)],
    )
    .at_word_start(),
    // Code hosts and package registries.
    TokenRule::new(
        "github-token",
        "GitHub personal, OAuth, app or refresh token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        &[Run(ALNUM, 36, OPEN)],
    ),
    TokenRule::new(
        "github-token",
        "GitHub fine-grained token",
        &["github_pat_"],
        &[Run(WORD, 50, OPEN)],
    ),
    TokenRule::new(
        "gitlab-token",
        "GitLab personal, deploy, runner, trigger, feed or agent token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-",
            "glimt-", "glffct-",
        ],
        &[Run(URL64, 20, OPEN)],
    ),
    TokenRule::new(
        "gitlab-token",
        "GitLab runner registration token",
        &["GR1348941"],
        &[Run(URL64, 20, OPEN)],
    ),
    TokenRule::new(
        "bitbucket-token",
        "Bitbucket app password",
        &["ATBB"],
        &[Run(ALNUM, 32, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "atlassian-token",
        "Atlassian API token",
        &["ATATT3xFfGF0", "ATCTT3xFfGN0"],
        &[Run(Class::of("A-Za-z0-9_=-"), 60, OPEN)],
    ),
    TokenRule::new("npm-token", "npm access token", &["npm_"], &[Run(ALNUM, 36, 64)]).at_word_start(),
    TokenRule::new(
        "pypi-token",
        "PyPI upload token",
        &["pypi-AgE"],
        &[Run(URL64, 50, OPEN)],
    ),
    TokenRule::new(
        "crates-io-token",
        "crates.io API token",
        &["cio"],
        &[Run(ALNUM, 32, 32)],
    )
    .at_word_start(),
    TokenRule::new(
        "rubygems-token",
        "RubyGems API key",
        &["rubygems_"],
        &[Run(HEX, 48, 48)],
    ),
    TokenRule::new(
        "nuget-api-key",
        "NuGet API key",
        &["oy2"],
        &[Run(Class::LOWER, 43, 43)],
    )
    .at_word_start(),
    TokenRule::new(
        "clojars-token",
        "Clojars deploy token",
        &["CLOJARS_"],
        &[Run(Class::LOWER, 60, 60)],
    ),
    TokenRule::new(
        "docker-hub-token",
        "Docker Hub access token",
        &["dckr_pat_", "dckr_oat_"],
        &[Run(URL64, 27, OPEN)],
    ),
    TokenRule::new(
        "jfrog-token",
        "JFrog API key or reference token",
        &["AKCp8", "cmVmdGtu"],
        &[Run(ALNUM, 56, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "sourcegraph-token",
        "Sourcegraph access token",
        &["sgp_"],
        &[Run(WORD, 40, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "buildkite-token",
        "Buildkite API or agent token",
        &["bkua_", "bkat_"],
        &[Run(ALNUM, 40, 64)],
    )
    .at_word_start(),
    TokenRule::new(
        "circleci-token",
        "CircleCI personal or project token",
        &["CCIPAT_", "CCIPRJ_"],
        &[Run(ALNUM, 20, 24), Text("_"), Run(HEX, 40, 40)],
    ),
    TokenRule::new(
        "sonarqube-token",
        "SonarQube user, project or global token",
        &["squ_", "sqp_", "sqa_"],
        &[Run(HEX, 40, 40)],
    )
    .at_word_start(),
    // Clouds and hosting.
    TokenRule::new(
        "aws-access-key-id",
        "AWS access key id",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        &[Run(Class::UPPER, 16, 16)],
    )
    .at_word_start(),
    TokenRule::new("gcp-api-key", "Google API key", &["AIza"], &[Run(URL64, 35, 35)]).at_word_start(),
    TokenRule::new(
        "gcp-oauth-secret",
        "Google OAuth client secret",
        &["GOCSPX-"],
        &[Run(URL64, 28, OPEN)],
    ),
    TokenRule::new(
        "gcp-oauth-token",
        "Google OAuth access token",
        &["ya29."],
        &[Run(Class::of("A-Za-z0-9_.-"), 30, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "gcp-refresh-token",
        "Google OAuth refresh token",
        &["1//0"],
        &[Run(URL64, 40, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "azure-client-secret",
        "Microsoft Entra client secret",
        &[
            "0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~",
        ],
        &[Run(Class::of("A-Za-z0-9_~.-"), 31, 34)],
    )
    .reaching_back(Class::of("A-Za-z0-9_~.-"), 3, 3),
    TokenRule::new(
        "azure-storage-key",
        "Azure storage account key",
        &["AccountKey="],
        &[
            Run(Class::of("A-Za-z0-9+/"), 40, 88),
            Text("="),
            Run(Class::of("="), 0, 1),
        ],
    ),
    TokenRule::new(
        "azure-shared-access-key",
        "Azure Service Bus or Event Hubs key",
        &["SharedAccessKey="],
        &[
            Run(Class::of("A-Za-z0-9+/"), 40, 88),
            Text("="),
            Run(Class::of("="), 0, 1),
        ],
    ),
    TokenRule::new(
        "azure-sas-signature",
        "Signature of an Azure shared access URL",
        &["&sig=", "?sig="],
        &[Run(Class::of("A-Za-z0-9%+/=_-"), 40, OPEN)],
    ),
    TokenRule::new(
        "digitalocean-token",
        "DigitalOcean personal, OAuth or refresh token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        &[Run(HEX, 64, 64)],
    ),
    TokenRule::new(
        "heroku-api-key",
        "Heroku API key",
        &["HRKU-"],
        &[Run(URL64, 36, OPEN)],
    ),
    TokenRule::new(
        "fly-io-token",
        "Fly.io access token",
        &["fo1_", "fm1_", "fm1a_", "fm1r_", "fm2_"],
        &[Run(Class::of("A-Za-z0-9+/=_-"), 40, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "netlify-token",
        "Netlify access token",
        &["nfp_"],
        &[Run(ALNUM, 36, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "cloudflare-origin-ca-key",
        "Cloudflare origin CA key",
        &["v1.0-"],
        &[Run(HEX, 24, 24), Text("-"), Run(HEX, 146, 146)],
    )
    .at_word_start(),
    TokenRule::new(
        "supabase-token",
        "Supabase access token or secret key",
        &["sbp_", "sb_secret_"],
        &[Run(WORD, 30, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "planetscale-token",
        "PlanetScale token or password",
        &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
        &[Run(Class::of("A-Za-z0-9_=.-"), 32, OPEN)],
    ),
    TokenRule::new(
        "databricks-token",
        "Databricks access token",
        &["dapi"],
        &[Run(HEX, 32, 32)],
    )
    .at_word_start(),
    TokenRule::new(
        "tailscale-key",
        "Tailscale auth, API or OAuth key",
        &["tskey-auth-", "tskey-api-", "tskey-client-", "tskey-webhook-"],
        &[Run(Class::DASHED, 20, OPEN)],
    ),
    TokenRule::new(
        "terraform-cloud-token",
        "Terraform Cloud token",
        &[".atlasv1."],
        &[Run(Class::of("A-Za-z0-9_=-"), 60, OPEN)],
    )
    .reaching_back(ALNUM, 14, 14),
    TokenRule::new(
        "pulumi-token",
        "Pulumi access token",
        &["pul-"],
        &[Run(HEX, 40, 40)],
    )
    .at_word_start(),
    TokenRule::new(
        "openshift-token",
        "OpenShift user token",
        &["sha256~"],
        &[Run(URL64, 43, 43)],
    )
    .at_word_start(),
    TokenRule::new(
        "mapbox-token",
        "Mapbox secret token",
        &["sk.eyJ"],
        &[Run(URL64, 20, OPEN), Text("."), Run(URL64, 20, 24)],
    )
    .at_word_start(),
    TokenRule::new(
        "alibaba-access-key-id",
        "Alibaba Cloud access key id",
        &["LTAI"],
        &[Run(ALNUM, 16, 22)],
    )
    .at_word_start(),
    TokenRule::new(
        "yandex-token",
        "Yandex Cloud IAM token",
        &["t1."],
        &[
            Run(Class::of("A-Za-z0-9_=-"), 60, OPEN),
            Text("."),
            Run(Class::of("A-Za-z0-9_=-"), 80, OPEN),
        ],
    )
    .at_word_start(),
    TokenRule::new(
        "yandex-token",
        "Yandex Cloud API key",
        &["AQVN"],
        &[Run(URL64, 34, 38)],
    )
    .at_word_start(),
    TokenRule::new(
        "neon-api-key",
        "Neon API key",
        &["napi_"],
        &[Run(Class::LOWER, 40, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "render-api-key",
        "Render API key",
        &["rnd_"],
        &[Run(ALNUM, 28, 40)],
    )
    .at_word_start(),
    TokenRule::new(
        "clickhouse-cloud-key",
        "ClickHouse Cloud secret key",
        &["4b1d"],
        &[Run(ALNUM, 38, 38)],
    )
    .at_word_start(),
    TokenRule::new(
        "mongodb-atlas-secret",
        "MongoDB Atlas service account secret",
        &["mdb_sa_sk_"],
        &[Run(URL64, 40, OPEN)],
    ),
    // Secret stores.
    TokenRule::new(
        "vault-token",
        "HashiCorp Vault service, batch or recovery token",
        &["hvs.", "hvb.", "hvr."],
        &[Run(URL64, 24, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "age-secret-key",
        "age identity",
        &["AGE-SECRET-KEY-1"],
        &[Run(Class::UPPER, 50, OPEN)],
    ),
    TokenRule::new(
        "doppler-token",
        "Doppler token",
        &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim."],
        &[Run(Class::of("A-Za-z0-9_.-"), 40, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "onepassword-token",
        "1Password service account token",
        &["ops_eyJ"],
        &[Run(Class::of("A-Za-z0-9+/=_-"), 200, OPEN)],
    ),
    TokenRule::new(
        "onepassword-secret-key",
        "1Password secret key",
        &["A3-"],
        &[
            Run(Class::UPPER, 6, 6),
            Text("-"),
            Run(Class::UPPER, 6, 11),
            Text("-"),
            Run(Class::UPPER, 5, 5),
            Text("-"),
            Run(Class::UPPER, 5, 5),
            Text("-"),
            Run(Class::UPPER, 5, 5),
        ],
    )
    .at_word_start(),
    // Messages and work.
    TokenRule::new(
        "slack-token",
        "Slack bot, user, app, configuration or session token",
        &[
            "xoxb-",
            "xoxa-",
            "xoxp-",
            "xoxr-",
            "xoxs-",
            "xoxo-",
            "xoxc-",
            "xoxd-",
            "xoxe-",
            "xoxe.xoxb-",
            "xoxe.xoxp-",
            "xapp-",
        ],
        &[Run(Class::of("A-Za-z0-9%-"), 16, OPEN)],
    ),
    TokenRule::new(
        "slack-webhook",
        "Slack webhook URL",
        &[
            "hooks.slack.com/services/",
            "hooks.slack.com/workflows/",
            "hooks.slack.com/triggers/",
        ],
        &[Run(Class::of("A-Za-z0-9/"), 30, OPEN)],
    ),
    TokenRule::new(
        "discord-webhook",
        "Discord webhook URL",
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        &[Run(Class::DIGIT, 15, 22), Text("/"), Run(URL64, 40, OPEN)],
    ),
    TokenRule::new(
        "teams-webhook",
        "Microsoft Teams webhook URL",
        &["webhook.office.com/webhookb2/"],
        &[Run(Class::of("A-Za-z0-9/@-"), 60, OPEN)],
    ),
    TokenRule::new(
        "telegram-bot-token",
        "Telegram bot token",
        &[":AA"],
        &[Run(URL64, 32, 34)],
    )
    .reaching_back(Class::DIGIT, 8, 10),
    TokenRule::new(
        "linear-api-key",
        "Linear API key",
        &["lin_api_", "lin_oauth_"],
        &[Run(ALNUM, 40, OPEN)],
    ),
    TokenRule::new(
        "notion-token",
        "Notion integration token",
        &["ntn_", "secret_"],
        &[Run(ALNUM, 43, 50)],
    )
    .at_word_start(),
    TokenRule::new(
        "figma-token",
        "Figma access token",
        &["figd_"],
        &[Run(URL64, 40, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "airtable-token",
        "Airtable personal token",
        &["pat"],
        &[Run(ALNUM, 14, 14), Text("."), Run(HEX, 64, 64)],
    )
    .at_word_start(),
    TokenRule::new(
        "postman-api-key",
        "Postman API key",
        &["PMAK-"],
        &[Run(HEX, 24, 24), Text("-"), Run(HEX, 34, 34)],
    ),
    TokenRule::new(
        "readme-api-key",
        "ReadMe API key",
        &["rdme_"],
        &[Run(Class::LOWER, 70, 70)],
    )
    .at_word_start(),
    TokenRule::new(
        "hubspot-token",
        "HubSpot private app token",
        &["pat-na", "pat-eu", "pat-ap"],
        &[
            Run(Class::DIGIT, 1, 2),
            Text("-"),
            Run(HEX, 8, 8),
            Text("-"),
            Run(Class::of("a-f0-9-"), 27, 27),
        ],
    )
    .at_word_start(),
    TokenRule::new(
        "launchdarkly-key",
        "LaunchDarkly SDK or API key",
        &["sdk-", "api-"],
        &[
            Run(HEX, 8, 8),
            Text("-"),
            Run(HEX, 4, 4),
            Text("-"),
            Run(HEX, 4, 4),
            Text("-"),
            Run(HEX, 4, 4),
            Text("-"),
            Run(HEX, 12, 12),
        ],
    )
    .at_word_start(),
    TokenRule::new(
        "dropbox-token",
        "Dropbox access token",
        &["sl."],
        &[Run(Class::of("A-Za-z0-9_.-"), 120, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "meta-access-token",
        "Facebook or Instagram access token",
        &["EAAG", "EAAM", "EAAC"],
        &[Run(ALNUM, 100, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "twitter-bearer-token",
        "Twitter (X) application token",
        &["AAAAAAAAAAAAAAAAAAAAA"],
        &[Run(Class::of("A-Za-z0-9%"), 60, 120)],
    )
    .at_word_start(),
    TokenRule::new(
        "contentful-token",
        "Contentful management token",
        &["CFPAT-"],
        &[Run(URL64, 40, OPEN)],
    ),
    // Money.
    TokenRule::new(
        "stripe-key",
        "Stripe secret or restricted key",
        &[
            "sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_",
        ],
        &[Run(ALNUM, 16, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "webhook-secret",
        "Stripe or Svix webhook signing secret",
        &["whsec_"],
        &[Run(Class::BASE64, 24, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "square-token",
        "Square access token or secret",
        &["sq0atp-", "sq0csp-", "sq0idp-"],
        &[Run(URL64, 22, OPEN)],
    ),
    TokenRule::new(
        "square-token",
        "Square access token of the new form",
        &["EAAA"],
        &[Run(URL64, 60, 60)],
    )
    .at_word_start(),
    TokenRule::new(
        "shopify-token",
        "Shopify access token or shared secret",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        &[Run(Class::HEX, 32, 32)],
    ),
    TokenRule::new(
        "plaid-token",
        "Plaid access token",
        &["access-production-", "access-sandbox-", "access-development-"],
        &[Run(Class::of("a-f0-9-"), 36, 36)],
    ),
    TokenRule::new(
        "paypal-braintree-token",
        "Braintree access token",
        &["access_token$production$", "access_token$sandbox$"],
        &[Run(Class::LOWER, 16, 16), Text("$"), Run(HEX, 32, 32)],
    ),
    TokenRule::new(
        "flutterwave-key",
        "Flutterwave secret key",
        &["FLWSECK-", "FLWSECK_TEST-"],
        &[Run(ALNUM, 12, 40), Text("-X")],
    ),
    // Mail and telephone.
    TokenRule::new(
        "sendgrid-api-key",
        "SendGrid API key",
        &["SG."],
        &[Run(URL64, 16, 32), Text("."), Run(URL64, 16, 64)],
    )
    .at_word_start(),
    TokenRule::new(
        "mailgun-key",
        "Mailgun private key",
        &["key-"],
        &[Run(HEX, 32, 32)],
    )
    .at_word_start(),
    TokenRule::new(
        "mailchimp-key",
        "Mailchimp API key",
        &["-us"],
        &[Run(Class::DIGIT, 1, 2)],
    )
    .reaching_back(HEX, 32, 32),
    TokenRule::new(
        "brevo-key",
        "Brevo (Sendinblue) API or SMTP key",
        &["xkeysib-", "xsmtpsib-"],
        &[Run(HEX, 64, 64), Text("-"), Run(ALNUM, 16, 16)],
    ),
    TokenRule::new(
        "resend-api-key",
        "Resend API key",
        &["re_"],
        &[Run(ALNUM, 8, 8), Text("_"), Run(ALNUM, 24, 24)],
    )
    .at_word_start(),
    TokenRule::new(
        "twilio-api-key",
        "Twilio API key",
        &[
            "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd",
            "SKe", "SKf",
        ],
        &[Run(HEX, 31, 31)],
    )
    .at_word_start(),
    // Watching.
    TokenRule::new(
        "newrelic-key",
        "New Relic user or licence key",
        &["NRAK-"],
        &[Run(Class::UPPER, 27, 27)],
    ),
    TokenRule::new(
        "grafana-token",
        "Grafana service account token",
        &["glsa_"],
        &[Run(ALNUM, 32, 32), Text("_"), Run(Class::HEX, 8, 8)],
    ),
    TokenRule::new(
        "grafana-token",
        "Grafana Cloud token",
        &["glc_"],
        &[Run(Class::BASE64, 40, OPEN)],
    )
    .at_word_start(),
    TokenRule::new(
        "sentry-token",
        "Sentry user token",
        &["sntryu_"],
        &[Run(HEX, 64, 64)],
    ),
    TokenRule::new(
        "sentry-token",
        "Sentry organisation token",
        &["sntrys_"],
        &[Run(Class::of("A-Za-z0-9+/=_-"), 60, OPEN)],
    ),
    TokenRule::new(
        "dynatrace-token",
        "Dynatrace API token",
        &["dt0c01.", "dt0s01.", "dt0s16."],
        &[Run(Class::UPPER, 24, 24), Text("."), Run(Class::UPPER, 64, 64)],
    ),
    // Kinds without an issuer.
    TokenRule::new(
        "private-key",
        "Private key block in base 64, as in kubeconfig files and Kubernetes secrets",
        &[
            "LS0tLS1CRUdJTiBSU0Eg",
            "LS0tLS1CRUdJTiBQUklW",
            "LS0tLS1CRUdJTiBFQyBQ",
            "LS0tLS1CRUdJTiBPUEVO",
            "LS0tLS1CRUdJTiBFTkNS",
        ],
        &[Run(Class::BASE64, 40, OPEN)],
    ),
    TokenRule::new(
        "jwt",
        "JSON web token",
        &["eyJ"],
        &[
            Run(URL64, 12, OPEN),
            Text("."),
            Run(URL64, 12, OPEN),
            Text("."),
            Run(URL64, 0, OPEN),
        ],
    )
    .at_word_start(),
];
