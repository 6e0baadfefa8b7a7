//! Secrets that are recognized by the text around them. The secret of a case is between « and ».

use grov_redact::Redactor;

pub(crate) const SECRETS: &[(&str, &str)] = &[
    // Private blocks.
    ("private", "a «<private>my plan</private>» b"),
    ("private", "«<PRIVATE>x</Private >»"),
    (
        "private",
        "a «<private>one <private>two</private> three</private>» b </private>",
    ),
    ("private", "a «<private>never closed, sk-ant and all»"),
    ("private", "«<private reason=\"pay\">x</private>»."),
    // Keys under the bare name of their service.
    ("service-key", "codecov: «7b21f0c4-93de-4c1a-8f70-5a1f0c9e2d37»"),
    ("service-key", "ADAFRUIT=«b3ixgjk02e9irqwn38ve2130mj6xmyeq» make"),
    // Private keys.
    (
        "private-key",
        "«-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA75cP\nabcd\n-----END RSA PRIVATE KEY-----»\nafter",
    ),
    (
        "private-key",
        "«-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ»",
    ),
    (
        "private-key",
        r#"{"private_key": "«-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----»\n"}"#,
    ),
    (
        "private-key",
        "«-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\nMIIEpAIBAAKCAQEA75cPMIIEpAIBAAKCAQEA75cP\nMIIEpAIBAAKCAQ»\n\nThe rest is missing.",
    ),
    (
        "private-key",
        "«-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGPVnYkBCADNwS8gUD7vsGhl\n=Zx9q\n-----END PGP PRIVATE KEY BLOCK-----»",
    ),
    (
        "private-key",
        "     1→«-----BEGIN EC PRIVATE KEY-----\n     2→MHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY8d\n     3→oAoGCCqGSM49AwEHoUQDQgAEPR3tU2Fta9ktY+6P9G0cWO+0kETA»\n",
    ),
    (
        "private-key",
        "tail:\n«MIIEpAIBAAKCAQEA75cPMIIEpAIBAAKCAQEA75cPMIIEpAIBAAKCAQEA75cPABCD\nMIIEpAIBAAKC\n-----END RSA PRIVATE KEY-----»\n",
    ),
    (
        "private-key",
        "Private-Lines: 1«\nAAAAgQC7Xo9J1pJXn3bqCdoJ0WwZ2mcDKqvyp0JCrGkGZEkJ8Ee3w4mKQdPUmYGq»\nPrivate-MAC: 00",
    ),
    // Connection strings. Scheme, user and host stay readable.
    ("connection-password", "postgres://user:«pw»@host/db"),
    (
        "connection-password",
        "mongodb+srv://app:«s3cr3t%21»@cluster0.example.net/?retryWrites=true",
    ),
    ("connection-password", "redis://:«hunter2»@localhost:6379/0"),
    ("connection-password", "amqp://guest:«guest»@rabbit:5672/%2f"),
    ("connection-password", "mysql://root:«p/w#1»@db:3306/app"),
    (
        "connection-password",
        "git clone https://me:«hunter2»@git.example.com/x.git",
    ),
    (
        "connection-password",
        "https://«9f86d081884c7d659a2feaa0c55ad015»@o1.ingest.example.io/2",
    ),
    ("connection-password", "DATABASE_URL=\"postgresql://u:«a@b»@h/d\""),
    // Headers.
    (
        "authorization-header",
        "Authorization: Basic «dXNlcjpwYXNzd29yZA==»",
    ),
    (
        "authorization-header",
        "curl -H 'Authorization: Bearer «abcdef123456»' https://x",
    ),
    (
        "authorization-header",
        r#"{"Authorization": "Bot «abc123DEF456»"}"#,
    ),
    (
        "authorization-header",
        r#"{\"authorization\":\"token «abc123def456»\"}"#,
    ),
    (
        "authorization-header",
        "proxy-authorization: Digest «abc123def456==»",
    ),
    (
        "bearer-token",
        "headers.set(\"Authorization\", \"Bearer «mF9B5f4Jq1Mabc123defXYZ»\")",
    ),
    (
        "session-cookie",
        "Cookie: theme=dark; session=«0123456789abcdef»; lang=en",
    ),
    (
        "session-cookie",
        "Set-Cookie: sid=«s%3Aj1k2l3m4n5»; Path=/; HttpOnly",
    ),
    // Assignments.
    ("password", "password = \"«hunter2»\""),
    ("password", "password=«hunter2»"),
    ("password", "PASSWORD=«swordfish» ./run"),
    ("password", "export DB_PASS='«correct-horse»'"),
    ("password", "PGPASSWORD=«letmein» psql -h db"),
    ("password", "  password: «hunter2!»\n  user: me"),
    ("password", "password: «swordfish»\nuser: me"),
    ("password", "\"password\": \"«correct horse battery staple»\","),
    ("password", r#"{\"password\": \"«hunter2»\"}"#),
    ("password", "spring.datasource.password=«hunter2»"),
    (
        "password",
        "Server=db;User Id=sa;Password=«P@ssw0rd!»;Encrypt=true",
    ),
    ("password", "jdbc:sqlserver://db;user=sa;password=«Passw0rd»;"),
    (
        "password",
        "https://x.example/login?user=me&password=«hunter2»&next=1",
    ),
    ("password", "let password: &str = \"«hunter2»\";"),
    ("password", "const dbPassword: string = '«hunter2»'"),
    ("password", "var password = String::from(\"«hunter2»\")"),
    ("password", ":password => \"«hunter2»\""),
    ("password", "config['password'] = '«hunter2»'"),
    ("password", "- name: DB_PASSWORD\n  value: «hunter2»\n"),
    ("password", "<add key=\"DbPassword\" value=\"«hunter2»\" />"),
    ("password", "<password>«hunter2»</password>"),
    ("password", "the password is «hunter2», as ever"),
    ("password", "CREATE USER me IDENTIFIED BY '«hunter2»';"),
    ("password", "ALTER ROLE me WITH PASSWORD '«hunter2»'"),
    ("password", "machine example.com login me password «hunter2»\n"),
    ("password", "password = \"«Cut0ff-in-the-mid»"),
    ("password", "db.example.org:5432:main:app:«hunter2»\n"),
    ("password", "*:5432:*:*:«correct:horse»\n"),
    (
        "secret",
        "String: export AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEYS12»</tool_use_error>",
    ),
    (
        "password",
        "     1\t- name: DB_PASSWORD\n     2\t  value: «hunter2»\n",
    ),
    ("password", "define('DB_PASSWORD', '«hunter2»');"),
    ("password", "#define WIFI_PASSWORD \"«hunter2»\""),
    (
        "api-key",
        "define( 'AUTH_KEY', '«q7Wv2Kp9Zx4Lm8Rt3Yb6Nc1Jd5Hf0GsA»' );",
    ),
    (
        "token",
        r#"{"auths": {"https://index.docker.io/v1/": {"auth": "«bWU6c3dvcmRmaXNo9kE=»"}}}"#,
    ),
    (
        "authorization-header",
        "Authorization: SSWS «00QCjAl4MlV-WPXM1Ks4Bb5Ef»",
    ),
    ("secret", "SECRET_KEY = \"«django-insecure-4f7k2m9x»\""),
    (
        "secret",
        "AWS_SECRET_ACCESS_KEY=«wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEYS12»",
    ),
    (
        "secret",
        "aws_secret_access_key = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEYS12»\n",
    ),
    ("secret", "clientSecret: '«0a1b2c3d4e5f6a7b»'"),
    ("secret", "SECRET=«swordfish» ./run"),
    ("secret", "JWT_SECRET=«6ba7b810-9dad-11d1-80b4-00c04fd430c8»"),
    ("api-key", "api_key: \"«abcd1234efgh5678»\""),
    ("api-key", "x-api-key: «0a1b2c3d4e5f6a7b8c9d»"),
    ("api-key", "HEROKU_API_KEY=«6ba7b810-9dad-11d1-80b4-00c04fd430c8»"),
    ("api-key", "apikey=«abcd1234efgh5678»&q=1"),
    ("token", "GITHUB_TOKEN=«9f86d081884c7d659a2feaa0c55ad0159f86d081»"),
    ("token", "//registry.example.org/:_authToken=«0a1b2c3d-4e5f»"),
    ("token", "access_token: \"«2YotnFZFEjr1zCsicMWpAA»\""),
    ("token", "TOKEN=«abc12345»"),
    ("high-entropy", "SENTRY_THING=«q7Wv2Kp9Zx4Lm8Rt3Yb6Nc1Jd5Hf0GsA»"),
    ("high-entropy", "\"blob\": \"«q7Wv2Kp9Zx4Lm8Rt3Yb6Nc1Jd5Hf0GsA»\""),
    ("secret", "session_key_material = '«q7Wv2Kp9Zx4Lm8Rt3Yb6»'"),
    ("password", "DB_PASSWORD=\"«p@ss word»\""),
    ("password", "DB_PASSWORD=«ABC12345»"),
    ("password", "password: «ABC12345»\n"),
    ("password", "password = \"«your000AAA00aa»\""),
    ("password", "host=db user=me password=«swordfish» dbname=x"),
    (
        "password",
        "kubectl create secret generic x --from-literal=password=«hunter2»",
    ),
    ("password", "apiVersion: v1\ndata:\n  password: «aHVudGVyMg==»\n"),
    (
        "secret",
        "aws configure set aws_secret_access_key «wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEYS12»",
    ),
    (
        "secret",
        "Secret access key: «wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEYS12»\n",
    ),
    ("api-key", "API key: «abcd1234efgh5678»\n"),
    ("secret", "otpauth://totp/x?secret=«JBSWY3DPEHPK3PXP»&issuer=y"),
    (
        "secret",
        "secret_key_base: «9f86d081884c7d659a2feaa0c55ad0159f86d081884c7d659a2feaa0c55ad015»\n",
    ),
    (
        "api-key",
        "APP_KEY=«base64:q7Wv2Kp9Zx4Lm8Rt3Yb6Nc1Jd5Hf0GsAq7Wv2Kp9Zx4=»",
    ),
    (
        "private-key",
        "Here is it:\n«MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\nNMoSfm76oqFv»\nuse it",
    ),
    (
        "private-key",
        "deploy with \"«MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v4QJqk5oV0pYw1c2dNf7bXz»\" and no more",
    ),
    ("bearer-token", "Bearer: «aZ3kQ9xW7mB2vN5cL8jH4fD6»"),
    (
        "authorization-header",
        "with Basic «ZGVwbG95OnRyMHViNGRvcjMzMw==» on it",
    ),
    ("password", "basic auth deploy:«tr0ub4dor-and-3» works"),
    (
        "password",
        "machine git.example.org password «swordfish» login deploy",
    ),
    ("password", "use the password «tr0ub4dor-and-3-staples» to log in"),
    ("password", "mit dem Passwort «tr0ub4dor-and-3-staples» einloggen"),
    ("password", "SSHPASS=«swordfish» sshpass -e ssh x"),
    ("secret", "its secret «q7Wv2Kp9Zx4Lm8Rt3Yb6Nc1Jd5Hf0GsA», then"),
    ("api-key", "curl -H \"X-Api-Key: «swordfish»\" https://x"),
    ("api-key", "X-API-Key: «swordfish»\nAccept: */*"),
    ("api-key", "set the header X-Api-Key: «short9» for me"),
    ("token", "X-Auth-Token: «swordfish12»"),
    ("password", "mysqldump --password=«Kn0bl4uch.Suppe» shop"),
    (
        "password",
        "terraform plan -var 'admin_password=«Quark.31»' -var region=eu",
    ),
    ("password", "set DB_PASS=«Kartoffel_99»&& node index.js"),
    ("password", "{\"Password\"\n      : \"«Herbst_2021»\"\n}"),
    (
        "password",
        "La contraseña del servidor es '«TortugaVerde12»' y el usuario es admin",
    ),
    (
        "password",
        "le mot de passe c'est “«Baguette-2020»”, tu peux vérifier ?",
    ),
    ("password", "Пароль от базы: „«Матрёшка-77»“, проверь"),
    ("password", "パスワードは「«sakura-88»」です。"),
    ("password", "Your temporary password is: «FVxQuaUiOkL»\n"),
    // Command lines.
    (
        "command-password",
        "echo '«Pfannkuchen1»' | sudo -S systemctl status nginx",
    ),
    (
        "command-password",
        "smbclient //nas/share -U 'anna%«Lakritz-84»' -c ls",
    ),
    ("command-password", "zip -r -P «Radieschen44» out.zip data/"),
    (
        "command-password",
        "keytool -list -keypass «Quark6» -keystore a.jks",
    ),
    ("command-password", "mongosh -u root -p «hunter2» main"),
    ("command-password", "ldapsearch -D cn=x -w «hunter2» -b dc=x"),
    (
        "command-password",
        "/usr/bin/mysqldump -uroot -p«hunter2» app && ls -path",
    ),
    ("command-password", "mysqldump --password «hunter2» db"),
    (
        "command-password",
        "liquibase --url=jdbc:mysql://db/app --username root --password «CorrectHorse» update",
    ),
    ("command-password", "tool --github-token «abc123def456» run"),
    ("command-password", "tool --api-key '«abc123def456»'"),
    ("command-password", "[\"tool\", \"--password\", \"«hunter2»\"]"),
    ("password", "tool --password=«hunter2»"),
    ("command-password", "curl -sS -u me:«hunter2» https://example.com"),
    (
        "command-password",
        "curl https://example.com \\\n  --user 'me:«hunter2»'",
    ),
    ("command-password", "sshpass -p '«hunter2»' ssh me@host"),
    ("command-password", "mysql -u root -p«hunter2» app"),
    (
        "command-password",
        "docker login -u me -p «hunter2» registry.example.com",
    ),
    ("command-password", "sqlcmd -S db -U sa -P «hunter2»"),
    ("command-password", "http -a me:«hunter2» GET https://example.com"),
    ("secret", "the secret is «s3cr3t-and-quite-l0ng»."),
    ("command-password", "redis-cli -h cache -a «hunter2» ping"),
    // Prose, in the languages of prompts.
    (
        "password",
        "the admin password you sent me, «Copper3399#», still works",
    ),
    ("password", "passphrase for the signing key is «Walnut8475&»"),
    ("password", "das Passwort vom Testserver ist «Copper3399#»"),
    (
        "password",
        "Benutzer shop, Kennwort «thunder-saddle-marble23», dann Export",
    ),
    ("password", "le mot de passe du serveur est «Orage.Vert_88»"),
    ("password", "la contraseña del servidor es «River8628#»"),
    ("password", "a senha do banco é «Copper164#»"),
    ("password", "la password del database è «Thunder9271&»"),
    (
        "password",
        "utilizator root, Parola: «rpdt%dt8XA7n6» (serverul de test)",
    ),
    ("password", "hasło do bazy: «tundra_GLACIER221»"),
    ("password", "het wachtwoord is «Stroopwafel7»!"),
    ("password", "логин admin, пароль «river_RIVER944»"),
    ("password", "データベースのパスワードは「«J2YV!GKQPw4g3»」です"),
    ("password", "数据库密码是 «Xk9#mmQ2pL»，别写进日志"),
    ("password", "docs/Router_Passwort=«Enzian1999».txt"),
    (
        "password",
        "google app password «lckv gkbh velh pbhe» doesn't work",
    ),
    (
        "api-key",
        "with api key «045f5ef2a41f1bd50c587a5262f71b67» we reach only the sandbox",
    ),
    (
        "api-key",
        "clé API : «45196e6afc210bfb1b16ce71486f7314», elle marche chez toi ?",
    ),
    (
        "secret",
        "the aws secret access key «KWdLYpxh6LDVpNVcchog3HVnmMHzZ4SVd4QUQp6S» belongs to CI",
    ),
    ("secret", "my GitHub recovery code «004a9-fe237» is used up"),
    (
        "secret",
        "otpauth://totp/Acme:anna?secret=«UHUQQUOKKAMCTFIQ»&issuer=Acme",
    ),
    // Keys in file names and in lower case.
    ("aws-access-key-id", "tmp/«akias55ndoygep6st7ld».log"),
    ("aws-access-key-id", "backup_«AKIAQ3EGRI7KQ3EGRI7K».tar"),
    (
        "azure-storage-key",
        "keys/«RtlVr5m98mjBPmZTBozhwyfPQ6w7oo2CWdZZg0ZOveHv5r4cupLuUfw3OV6DpseAKJl0nf5XXIL7jn08D1kPYQ==».json",
    ),
    // A key as the user name of a URL.
    (
        "connection-password",
        "https://«4a09018ee612ee9e64091282556b886d»@o450123.ingest.sentry.io/4505",
    ),
    // Values of commands.
    (
        "session-cookie",
        "curl -b 'sessionid=«ukywkcv787idaevb4tzzhgz5h1apnbmk»' https://example.com",
    ),
    ("command-password", "echo \"jo:«Schnitzel-71»\" | sudo chpasswd"),
    (
        "command-password",
        "echo «yUjgWMvHC8PF5PaylPFZ» | docker login ghcr.io -u bot --password-stdin",
    ),
    ("command-password", "htpasswd -bB .htpasswd jo «Kuckucksuhr3»"),
    (
        "command-password",
        "Look at htpasswd -nb 'jo' '«Kuckucksuhr3»' and the log",
    ),
    // Values on the next line.
    (
        "password",
        "variable \"db_password\" {\n  default = \"«t33iCSVwIYZZME2Kobold»\"\n}",
    ),
    (
        "api-key",
        "api_key: >-\n  «fa36ea8d912c1c01f7ae266ffc0ffee6bb0ba20d»\n",
    ),
    (
        "command-password",
        "openssl rsa -in a.pem -passin pass:«hunter2» -out b.pem",
    ),
];

/// Returns the text of a case without the marks, and the range of the secret.
fn marked(case: &str) -> (String, std::ops::Range<usize>) {
    let start = case.find('«').unwrap();
    let end = case.find('»').unwrap() - '«'.len_utf8();
    (case.replace(['«', '»'], ""), start..end)
}

#[test]
fn secrets_are_found_by_context() {
    let redactor = Redactor::new();
    let mut wrong = Vec::new();
    for (rule, case) in SECRETS {
        let (text, range) = marked(case);
        let found = redactor.findings(&text);
        if found.len() != 1 || found[0].rule != *rule || found[0].range != range {
            let shown: Vec<_> = found.iter().map(|f| (f.rule, &text[f.range.clone()])).collect();
            wrong.push(format!("{rule}: {case}\n    found {shown:?}"));
            continue;
        }
        let expected = format!("{}[redacted:{rule}]{}", &text[..range.start], &text[range.end..]);
        assert_eq!(redactor.redact(&text), expected);
        assert_eq!(redactor.redact(&expected), expected, "redacting twice");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn several_secrets_of_one_text_are_masked_each_by_its_kind() {
    let github = format!("ghp_{}", "a1B2".repeat(9));
    let text = format!("password=hunter2 token={github}\npostgres://u:pw@h/d");
    assert_eq!(
        Redactor::shared().redact(&text),
        "password=[redacted:password] token=[redacted:github-token]\npostgres://u:[redacted:connection-password]@h/d"
    );
}

#[test]
fn an_aws_key_pair_is_masked_on_both_sides() {
    let id = format!("AKIA{}", "Q3EGRI7K".repeat(2));
    let text =
        format!("Access key ID,Secret access key\r\n{id},wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzKEYS12\r\n");
    assert_eq!(
        Redactor::new().redact(&text),
        "Access key ID,Secret access key\r\n[redacted:aws-access-key-id],[redacted:aws-secret-access-key]\r\n"
    );
}

#[test]
fn value_with_a_token_is_masked_completely_under_the_rule_of_the_token() {
    let github = format!("ghp_{}", "a1B2".repeat(9));
    let text = format!("password=\"prefix-{github}-suffix9\"");
    assert_eq!(
        Redactor::new().redact(&text),
        "password=\"[redacted:github-token]\""
    );
}

#[test]
fn a_random_value_in_the_name_of_a_file_is_masked_with_its_extension() {
    let value = "w2S1KZ0ZV2RERdNkxqNFt95ka2reA1MRBqP4JrutjnfnwHAh12Eu5n706RpH";
    for name in ["SERVICE_THING", "AZURE_DEVOPS_EXT_PAT"] {
        let text = format!("/tmp/project/k14/{name}={value}.txt");
        let redacted = grov_redact::Redactor::shared().redact(&text);
        assert!(!redacted.contains(&value[..20]), "{redacted}");
    }
}
