//! Secrets that people and programs leak, kind by kind, in their usual context.
//!
//! The forms are those of the issuers' documentation and of the public rule sets for scanning. They are written as
//! patterns, so that this file holds no secret and nothing that looks like one.

use super::random::Random;

/// A kind of secret: its name and its form. In the form the secret is between `«` and `»`, and `‹…›` is a run of random
/// characters: a letter for the alphabet (see [`alphabet`]) and a length, or `p` for a password.
pub const KINDS: &[(&str, &str)] = &[
    // Clouds.
    ("AWS access key", "«AKIA‹B16›»"),
    ("AWS temporary key", "«ASIA‹B16›»"),
    (
        "AWS secret key in a credentials file",
        "[default]\naws_secret_access_key = «‹b40›»\n",
    ),
    (
        "AWS secret key in the environment",
        "export AWS_SECRET_ACCESS_KEY=«‹b40›»",
    ),
    ("AWS session token", "AWS_SESSION_TOKEN=«‹b240›»"),
    ("AWS Bedrock key", "«ABSK‹b109›=»"),
    ("Google API key", "«AIza‹w35›»"),
    ("Google OAuth token", "«ya29.‹w80›»"),
    ("Google OAuth client secret", "«GOCSPX-‹w28›»"),
    (
        "Google service account",
        "{\"type\": \"service_account\", \"private_key\": \"-----BEGIN PRIVATE KEY-----\\n«‹b64›\\n‹b64›\\n‹b40›»\\n-----END PRIVATE KEY-----\\n\"}",
    ),
    (
        "Azure storage account",
        "DefaultEndpointsProtocol=https;AccountName=grovtest;AccountKey=«‹b86›==»;EndpointSuffix=core.windows.net",
    ),
    ("Azure client secret", "AZURE_CLIENT_SECRET=«‹A3›8Q~‹A34›»"),
    (
        "Azure shared access signature",
        "https://grovtest.blob.core.windows.net/c?sv=2024-11-04&sr=c&sig=«‹A42›%3D»",
    ),
    (
        "Azure Service Bus",
        "Endpoint=sb://grovtest.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«‹b43›=»",
    ),
    ("Azure DevOps token", "AZURE_DEVOPS_EXT_PAT=«‹A76›AZDO‹A4›»"),
    ("DigitalOcean token", "«dop_v1_‹h64›»"),
    ("Heroku key", "«HRKU-AA‹w58›»"),
    ("Databricks token", "«dapi‹h32›»"),
    ("Fly token", "FLY_API_TOKEN=\"FlyV1 «fm2_‹b120›»\""),
    ("Cloudflare token", "CLOUDFLARE_API_TOKEN=«‹w40›»"),
    ("Alibaba key", "ALIBABA_CLOUD_ACCESS_KEY_SECRET=«‹A30›»"),
    ("Supabase token", "«sbp_‹h40›»"),
    ("PlanetScale password", "«pscale_pw_‹w43›»"),
    ("Vault token", "«hvs.‹w95›»"),
    ("Terraform Cloud token", "«‹A14›.atlasv1.‹w67›»"),
    ("Pulumi token", "«pul-‹h40›»"),
    ("Doppler token", "«dp.pt.‹A43›»"),
    ("Tailscale key", "«tskey-auth-‹A17›-‹A32›»"),
    // Code and packages.
    ("GitHub personal token", "«ghp_‹A36›»"),
    ("GitHub fine-grained token", "«github_pat_‹A22›_‹A59›»"),
    ("GitHub app token", "«ghs_‹A36›»"),
    ("GitLab personal token", "«glpat-‹w20›»"),
    ("GitLab job token", "«glcbt-64_‹w20›»"),
    ("GitLab runner token", "«glrt-‹w20›»"),
    ("Bitbucket app password", "«ATBB‹A32›»"),
    ("Atlassian token", "«ATATT3xFfGF0‹w171›=‹H8›»"),
    ("npm token", "«npm_‹A36›»"),
    (
        "npm registry login",
        "//npm.example.com/:_authToken=«‹h8›-‹h12›-‹h12›»",
    ),
    ("PyPI token", "«pypi-AgEIcHlwaS5vcmc‹w120›»"),
    ("crates.io token", "«cio‹A32›»"),
    ("RubyGems key", "«rubygems_‹h48›»"),
    ("NuGet key", "«oy2‹a43›»"),
    ("Docker Hub token", "«dckr_pat_‹w27›»"),
    (
        "Docker login",
        "{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"«‹b36›»\"}}}",
    ),
    ("CircleCI token", "«CCIPAT_‹A22›_‹h40›»"),
    ("Buildkite token", "«bkua_‹h40›»"),
    ("Sourcegraph token", "«sgp_‹h16›_‹h40›»"),
    // AI models.
    ("Anthropic key", "«sk-ant-api03-‹w93›AA»"),
    ("Anthropic login", "«sk-ant-oat01-‹w93›AA»"),
    ("OpenAI project key", "«sk-proj-‹w74›T3BlbkFJ‹w74›»"),
    ("OpenAI key of the old form", "«sk-‹A20›T3BlbkFJ‹A20›»"),
    ("Hugging Face token", "«hf_‹L34›»"),
    ("Groq key", "«gsk_‹A52›»"),
    ("xAI key", "«xai-‹A80›»"),
    ("Replicate token", "«r8_‹A37›»"),
    ("OpenRouter key", "«sk-or-v1-‹h64›»"),
    ("ElevenLabs key", "ELEVENLABS_API_KEY=«sk_‹h48›»"),
    // Messaging, issue trackers, payments.
    ("Slack bot token", "«xoxb-‹d12›-‹d13›-‹A24›»"),
    ("Slack user token", "«xoxp-‹d12›-‹d12›-‹d13›-‹h32›»"),
    ("Slack app token", "«xapp-1-A0‹U9›-‹d13›-‹h64›»"),
    (
        "Slack webhook",
        "https://«hooks.slack.com/services/T0‹U9›/B0‹U9›/‹A24›»",
    ),
    (
        "Discord webhook",
        "https://«discord.com/api/webhooks/‹d18›/‹w68›»",
    ),
    ("Discord bot token", "«MT‹A22›.‹w6›.‹A38›»"),
    ("Telegram bot token", "«7‹d9›:AA‹w33›»"),
    ("Linear key", "«lin_api_‹A40›»"),
    ("Notion token", "«ntn_‹A46›»"),
    ("Figma token", "«figd_‹w40›»"),
    ("Airtable token", "«pat‹A14›.‹h64›»"),
    ("Asana token", "ASANA_TOKEN=«2/‹d16›/‹d16›:‹h32›»"),
    ("Stripe secret key", "«sk_live_‹A99›»"),
    ("Stripe restricted key", "«rk_test_‹A24›»"),
    ("Stripe webhook secret", "«whsec_‹A32›»"),
    ("Square token", "«EAAA‹w60›»"),
    ("Shopify token", "«shpat_‹h32›»"),
    ("Plaid token", "«access-sandbox-‹h8›-‹h4›-‹h4›-‹h4›-‹h12›»"),
    ("SendGrid key", "«SG.‹w22›.‹w43›»"),
    ("Mailgun key", "«key-‹h32›»"),
    ("Mailchimp key", "«‹h32›-us14»"),
    ("Twilio key", "«SK‹h32›»"),
    ("Twilio auth token", "TWILIO_AUTH_TOKEN=«‹h32›»"),
    ("Resend key", "«re_‹A8›_‹A24›»"),
    // Monitoring.
    ("Grafana token", "«glsa_‹A32›_‹h8›»"),
    ("Sentry token", "«sntryu_‹h64›»"),
    ("New Relic key", "«NRAK-‹U27›»"),
    ("Datadog key", "DD_API_KEY=«‹h32›»"),
    ("Dynatrace token", "«dt0c01.‹B24›.‹B64›»"),
    ("PagerDuty header", "Authorization: Token token=«y_NbAkKc‹A12›»"),
    ("Okta header", "Authorization: SSWS «00‹w40›»"),
    // Keys and tokens without an issuer.
    (
        "JSON web token",
        "«eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ‹w60›.‹w43›»",
    ),
    (
        "RSA private key",
        "-----BEGIN RSA PRIVATE KEY-----\n«‹b64›\n‹b64›\n‹b32›=»\n-----END RSA PRIVATE KEY-----",
    ),
    (
        "OpenSSH private key",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n«‹b70›\n‹b70›\n‹b40›»\n-----END OPENSSH PRIVATE KEY-----",
    ),
    (
        "EC private key",
        "-----BEGIN EC PRIVATE KEY-----\n«‹b64›\n‹b64›\n‹b30›==»\n-----END EC PRIVATE KEY-----",
    ),
    (
        "PGP private key",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n«‹b64›\n‹b64›\n=‹b4›»\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
    ("age key", "«AGE-SECRET-KEY-1‹X58›»"),
    (
        "one-time password seed",
        "otpauth://totp/Grov:me?secret=«‹B32›»&issuer=Grov",
    ),
    // Connection strings and URLs.
    ("PostgreSQL URL", "postgres://app:«‹p›»@db.example.org:5432/main"),
    ("MySQL URL", "mysql://root:«‹p›»@db.example.org/main"),
    (
        "MongoDB URL",
        "mongodb+srv://app:«‹p›»@cluster0.example.net/?retryWrites=true",
    ),
    ("Redis URL", "redis://:«‹p›»@cache.example.org:6379/0"),
    ("AMQP URL", "amqps://app:«‹p›»@queue.example.org/vhost"),
    (
        "JDBC URL",
        "jdbc:postgresql://db.example.org/main?user=app&password=«‹p›»&ssl=true",
    ),
    (
        "ADO connection string",
        "Server=db.example.org;Database=main;User Id=app;Password=«‹p›»;Encrypt=True;",
    ),
    (
        "libpq connection string",
        "host=db.example.org user=app password=«‹p›» dbname=main",
    ),
    (
        "basic auth in a URL",
        "https://deploy:«‹p›»@artifacts.example.org/libs",
    ),
    (
        "token in a git remote",
        "https://oauth2:«glpat-‹w20›»@gitlab.example.org/team/app.git",
    ),
    (
        "token in a query string",
        "https://api.example.org/v1/items?limit=5&access_token=«‹A32›»",
    ),
    // Headers.
    ("bearer header", "Authorization: Bearer «‹A40›»"),
    (
        "bearer header in curl",
        "curl -H 'Authorization: Bearer «‹w32›»' https://api.example.org",
    ),
    ("basic header", "Authorization: Basic «‹b32›»"),
    ("API key header", "X-Api-Key: «‹A32›»"),
    ("cookie header", "Cookie: theme=dark; sessionid=«‹a32›»"),
    (
        "GitLab header",
        "curl --header \"PRIVATE-TOKEN: «‹w20›»\" https://gitlab.example.org/api/v4/projects",
    ),
    // Configuration.
    ("password in .env", "DB_PASSWORD=«‹p›»"),
    ("quoted secret in .env", "export SECRET_KEY=\"«‹A50›»\""),
    ("random value in .env", "SERVICE_THING=«‹M64›»"),
    ("Laravel key", "APP_KEY=base64:«‹b43›=»"),
    ("Rails master key", "RAILS_MASTER_KEY=«‹h32›»"),
    ("password in YAML", "database:\n  user: app\n  password: «‹p›»\n"),
    (
        "Kubernetes secret",
        "apiVersion: v1\nkind: Secret\ndata:\n  password: «‹b16›»\n",
    ),
    (
        "environment of a container",
        "- name: DB_PASSWORD\n  value: «‹p›»\n",
    ),
    ("password in JSON", "{\"user\": \"app\", \"password\": \"«‹p›»\"}"),
    ("secret in TOML", "[auth]\nclient_secret = \"«‹A32›»\"\n"),
    ("password in properties", "spring.datasource.password=«‹p›»"),
    ("password in XML", "<user>app</user>\n<password>«‹p›»</password>"),
    ("secret in Terraform", "  secret_key = \"«‹b40›»\""),
    ("netrc entry", "machine git.example.org login me password «‹p›»\n"),
    ("pgpass entry", "db.example.org:5432:main:app:«‹p›»\n"),
    ("argument of a Dockerfile", "ENV API_TOKEN=«‹A32›»"),
    // Source code.
    ("token in Rust", "const API_TOKEN: &str = \"«‹A32›»\";"),
    ("secret in Python", "CLIENT_SECRET = '«‹A32›»'"),
    ("secret in JavaScript", "const clientSecret = '«‹A32›»';"),
    (
        "password in Go",
        "cfg := Config{User: \"app\", Password: \"«‹p›»\"}",
    ),
    (
        "password in Java",
        "private static final String PASSWORD = \"«‹p›»\";",
    ),
    ("key in C#", "var apiKey = \"«‹A32›»\";"),
    ("key in Swift", "let apiKey = \"«‹A39›»\""),
    ("password in Ruby", "  :password => \"«‹p›»\","),
    ("password in PHP", "define('DB_PASSWORD', '«‹p›»');"),
    ("key in PowerShell", "$env:OPENAI_API_KEY = \"«‹A48›»\""),
    ("password in SQL", "CREATE USER app IDENTIFIED BY '«‹p›»';"),
    // Command lines.
    (
        "password of curl",
        "curl -u deploy:«‹p›» https://artifacts.example.org",
    ),
    (
        "password of mysql",
        "mysql -h db.example.org -u root -p«‹p›» main",
    ),
    (
        "password of sshpass",
        "sshpass -p '«‹p›»' ssh me@host.example.org",
    ),
    ("password of psql", "PGPASSWORD=«‹p›» psql -h db.example.org main"),
    ("token of a command", "deploy --token «‹A32›» --region eu"),
    (
        "password of docker",
        "docker login -u me -p «‹p›» registry.example.org",
    ),
    ("password of chpasswd", "echo 'deploy:«‹p›»' | sudo chpasswd"),
    (
        "password on standard input",
        "echo «‹p›» | docker login registry.example.org -u me --password-stdin",
    ),
    ("password of htpasswd", "htpasswd -bB .htpasswd deploy «‹p›»"),
    (
        "cookie of curl",
        "curl -b 'sessionid=«‹a40›»' https://admin.example.org/export",
    ),
    // Prose.
    (
        "password in English",
        "the root password of the test server is «‹p›», please try",
    ),
    (
        "password in German",
        "das Passwort vom Testserver lautet «‹p›», Benutzer ist root",
    ),
    (
        "password in French",
        "le mot de passe du serveur est «‹p›» depuis hier",
    ),
    (
        "password in Spanish",
        "la contraseña del servidor es «‹p›», usuario root",
    ),
    ("password in Portuguese", "a senha do banco é «‹p›» desde ontem"),
    ("password in Italian", "la password del database è «‹p›» da ieri"),
    (
        "password in Romanian",
        "utilizator root, Parola: «‹p›» (serverul de test)",
    ),
    ("password in Polish", "hasło do bazy: «‹p›» od wczoraj"),
    (
        "password in Dutch",
        "het wachtwoord van de router is «‹p›» sinds gisteren",
    ),
    ("password in Chinese", "数据库密码是 «‹p›» 别写进日志"),
    ("password in Japanese", "データベースのパスワードは「«‹p›»」です"),
    (
        "AWS secret key in a sentence",
        "the aws secret access key «‹b40›» belongs to the deploy user",
    ),
    (
        "key in a sentence",
        "with api key «‹h32›» we reach only the sandbox",
    ),
    (
        "key in a French sentence",
        "clé API : «‹h32›», elle marche chez toi ?",
    ),
    (
        "Sentry DSN",
        "SENTRY_DSN=https://«‹h32›»@o450123.ingest.sentry.io/4505",
    ),
    (
        "app password",
        "google app password: \"«‹c4› ‹c4› ‹c4› ‹c4›»\" for msmtp",
    ),
    (
        "seed of one-time codes",
        "otpauth://totp/Acme:anna?secret=«‹B16›»&issuer=Acme",
    ),
    ("Azure key in a path", "keys/«‹w86›==».json"),
    (
        "AWS access key in lower case",
        "akid=«akia‹a12›77a2», is that bad?",
    ),
    // Text that the user marked as private.
    ("private words", "<private>The code word is «‹p›».</private>"),
    ("private lines", "<private>\n«‹p› ‹p›\n‹p›»\n</private>"),
];

/// A secret that was planted.
#[derive(Clone, Debug)]
pub struct Secret {
    /// The kind.
    pub kind: &'static str,
    /// The text, with its context.
    pub text: String,
    /// The random parts: none of them may be found anywhere.
    pub parts: Vec<String>,
}

impl Secret {
    /// The next secret of a kind.
    pub fn of(&(kind, form): &(&'static str, &str), random: &mut Random) -> Self {
        let (mut text, mut parts, mut inside) = (String::new(), Vec::new(), false);
        let mut rest = form;
        while let Some(at) = rest.find(['«', '»', '‹']) {
            text.push_str(&rest[..at]);
            let mut signs = rest[at..].chars();
            let sign = signs.next();
            rest = signs.as_str();
            match sign {
                Some('«') => inside = true,
                Some('»') => inside = false,
                _ => {
                    let (pattern, after) = rest.split_once('›').unwrap_or((rest, ""));
                    rest = after;
                    let piece = piece(pattern, random);
                    text.push_str(&piece);
                    if inside {
                        parts.push(piece);
                    }
                }
            }
        }
        text.push_str(rest);
        Self { kind, text, parts }
    }

    /// Whether it fits on one line.
    pub fn is_one_line(&self) -> bool {
        !self.text.trim_end().contains('\n')
    }
}

fn piece(pattern: &str, random: &mut Random) -> String {
    if pattern == "p" {
        return random.password();
    }
    let (letter, count) = pattern.split_at(1);
    random.signs(alphabet(letter), count.parse().unwrap_or(0))
}

fn alphabet(letter: &str) -> &'static [u8] {
    match letter {
        "d" => b"0123456789",
        "h" => b"0123456789abcdef",
        "H" => b"0123456789ABCDEF",
        "a" => b"0123456789abcdefghijklmnopqrstuvwxyz",
        "c" => b"bcdfghjklmnpqrstvwxz",
        "L" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "U" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        // Base 32 of RFC 4648, and that of Bech32.
        "B" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "X" => b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        "A" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        // With more digits than chance gives: a value under a neutral name is recognised only by its look, and by look
        // one in a hundred random values of 40 characters passes for words, one in thousands of 64.
        "M" => b"01234567890123456789ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz",
        "w" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-",
        "b" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/",
        other => unreachable!("no alphabet {other}"),
    }
}
