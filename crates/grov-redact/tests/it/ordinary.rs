//! Ordinary text is not changed and not copied.

use grov_redact::Redactor;
use std::borrow::Cow;

const ORDINARY: &[&str] = &[
    "",
    "Nothing to see here.",
    // Public identifiers.
    "commit 9f86d081884c7d659a2feaa0c55ad0159f86d081",
    "sha: 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
    "session 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "\"session_id\": \"6ba7b810-9dad-11d1-80b4-00c04fd430c8\"",
    "\"tool_use_id\": \"toolu_01A09q90qw90lq917835lq9\"",
    "toolu_01A09q90qw90lq917835lq9 msg_013Zva2CMHLNnXjNJJKqJ2EF req_018EeWyXxfu5pfWkrYcMdjWG",
    "call_q7Wv2Kp9Zx4Lm8Rt3Yb6Nc1J",
    "\"integrity\": \"sha512-q7Wv2Kp9Zx4Lm8Rt3Yb6Nc1Jd5Hf0GsAq7Wv2Kp9Zx4Lm8Rt3Yb6Nc1Jd5Hf0GsAq7Wv2Kp9Zx4Lm8==\"",
    "checksum = \"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\"",
    "h1:q7Wv2Kp9Zx4Lm8Rt3Yb6Nc1Jd5Hf0GsAq7Wv2Kp9Zx4=",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGq7Wv2Kp9Zx4Lm8Rt3Yb6Nc1Jd5Hf0GsAq7Wv2K me@host",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA75cP\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA75cP\n-----END CERTIFICATE-----",
    "if text.starts_with(\"-----BEGIN PRIVATE KEY-----\") { return Kind::Key }",
    "grep -r 'BEGIN RSA PRIVATE KEY' . # look for -----BEGIN RSA PRIVATE KEY----- and report",
    // Placeholders.
    "API_KEY=<your-key>",
    "api_key: \"your-api-key-here\"",
    "password: \"changeme\"",
    "password=xxxxxxxx",
    "PASSWORD=********",
    "TOKEN=${GITHUB_TOKEN}",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password=\"$DB_PASSWORD\"",
    "apiKey: process.env.OPENAI_API_KEY,",
    "api_key=os.environ[\"OPENAI_API_KEY\"]",
    "password: {{ .Values.password }}",
    "postgres://${USER}:${PASSWORD}@host/db",
    "postgres://user:<password>@host/db",
    "https://user@host/path",
    "https://host:8080/path@2x.png",
    "git@github.com:owner/repo.git",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "'Authorization': `Bearer ${token}`",
    "curl -u \"$USER:$PASS\" https://x",
    "tool --token \"$TOKEN\"",
    "tool --password <password>",
    // Code that mentions secrets.
    "let password = get_password();",
    "password = input.password",
    "fn login(user: &str, password: &str) -> Result<Token, Error> {",
    "struct Login { password: String, token: Option<String> }",
    "password: str",
    "password: string;",
    "token: u64,",
    "secret: [u8; 32],",
    "secret: Sha256",
    "let token = lexer.next_token();",
    "let token = tokens[i + 1];",
    "token = Token::Ident(name)",
    "self.token = token",
    "if password == other_password {",
    "if token != expected { return Err(Error::Token) }",
    "match token { \"let\" => Keyword::Let }",
    "\"token\" => Self::Token,",
    "connect(host, password=password, token=token)",
    "connect(\n    password=password,\n    token=token\n)",
    "password=self.password)",
    "<input type=\"password\" name=\"password\" placeholder=\"Password\">",
    "\"password\": \"Your password\",",
    "\"password.reset\": \"Reset the password\",",
    "label: { password: 'user.password.label' }",
    "define(['jquery', 'app/password'], function ($) {})",
    "define('PASSWORD_MIN_LENGTH', '8');",
    "#define PASSWORD_FIELD \"password\"",
    "#define TOKEN_LENGTH 32",
    "docker run -p 5432:5432 postgres:16",
    "\"ports\": [\"127.0.0.1:5432:5432\"]",
    "\"auth\": \"required\"",
    "\"auth\": \"basic\", \"auth\": \"bearer\"",
    "api-docs sdk-core pat-nap sl.po API-REFERENCE t1.micro rnd_state aio_context",
    "let t1 = start(); t1.elapsed(); rnd_generator_for_the_whole_test_suite_of_things",
    "max_tokens: 4096, input_tokens = 12345, \"cache_read_input_tokens\": 56789",
    "next_page_token=CAUQAA",
    "token_type=bearer",
    "export SECRET_NAME=my-secret",
    "--token and --password are flags",
    "use the --password option, or --password-file FILE, or --password-stdin",
    "the token is invalid, the secret is out, the password is wrong",
    "bearer of bad news",
    "Bearer authentication with a token",
    "pass: 12 fail: 3",
    "pass: 98%",
    "pass: 12345",
    "password: must be at least 8 characters",
    "api_key: \"your-api-key-123\"",
    "PASS src/app.test.ts",
    "pwd && ls",
    "PWD=/home/me/project",
    "cat ~/.config/secret/token.txt",
    "SSH_KEY=~/.ssh/id_ed25519",
    "private_key=./keys/private.pem",
    "\"private_key_id\": \"9f86d081884c7d659a2feaa0c55ad0159f86d081\"",
    "mysql -u root -p app",
    "mkdir -p src && docker build -t app .",
    "curl -u https://example.com",
    "mkdir -p foo && grep -p x && cp -p a b && git log -p src/x.rs",
    "ssh -p 22 me@host && ssh -p2222 me@host",
    "mysql --port 3306 -P 3306 -h db && mysqld -port",
    "npm install mysql2 -path x; cd mysql-client && make -pfoo",
    "import mysql from 'mysql2/promise'; // -p",
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA75cPMIIBIjANBgkqhkiG9w0BAQ",
    "basic auth deploy flow, Basic authentication is used, basic text: 12345678",
    "use password authentication, the password base64-encoded, password argon2id or bcrypt",
    "token 9f86d081884c7d659a2feaa0c55ad0159f86d081, secret 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "a machine learning password manager",
    "X-Api-Key: <key>, X-Api-Key: $KEY, the X-Api-Key: header is required",
    "x-request-id: 12345678",
    "read -rs -p \"Password: \" PW; export PW",
    "cat notes.txt | sudo -S tee /etc/x",
    "gzip -P x; the password field 'passwd' || password('abc123')",
    "if password in ['abc1234']: print('x12345')",
    // Random text that is not secret.
    "const ALPHABET: &str = \"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/\";",
    "import { ClearWebsiteDataOnLogoutHandlerFactory2 } from './x'",
    "let value = compute_the_first_thing_2_then_another_thing_3(x);",
    "key = \"com.example.project.internal.ServiceName2\"",
    "path = \"/usr/lib/x86_64-linux-gnu/libSomething2.so.1\"",
    "url: 'https://example.com/a/B2/c3D4/e5F6g7H8i9J0k1L2m3N4'",
    "<private>",
    "<PrivateRoute path=\"/x\">",
    "a vector<private key> of keys",
    "x = private>y",
    "discord.py 2.3.2 a.b.c.d 10.0.0.1",
    "v1.0-rc1 sk-learn skimage.io key-value AKIA hf_hub npm_lifecycle_event eyJ",
    "- [redacted:password] and password=[redacted:password] and \"[redacted:jwt]\"",
];

#[test]
fn ordinary_text_is_left_alone() {
    let redactor = Redactor::new();
    // The tag alone is a block without an end.
    let wrong: Vec<String> = ORDINARY
        .iter()
        .filter(|text| **text != "<private>")
        .filter_map(|text| {
            let found = redactor.findings(text);
            let shown: Vec<_> = found.iter().map(|f| (f.rule, &text[f.range.clone()])).collect();
            (!found.is_empty()).then(|| format!("{text}\n    found {shown:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn clean_text_is_borrowed() {
    let text = "fn main() { println!(\"no secret\") }".repeat(100);
    assert!(matches!(Redactor::new().redact(&text), Cow::Borrowed(_)));
}
