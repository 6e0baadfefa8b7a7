//! Secrets that commands, programs, configuration and sentences give away without a name of their own, and lines like them that have
//! none.

use grov_redact::Redactor;

/// A password that nothing but its place tells.
const PASSWORD: &str = "Moos-gabel7";

/// Commands and texts with the password in place of `{}`.
const GIVEN_AWAY: &[&str] = &[
    // Options and arguments of commands.
    "keytool -importkeystore -srckeystore a.jks -srcstorepass {} -deststorepass {}",
    "curl --oauth2-bearer {} https://a.b",
    "qpdf --encrypt {} {} 256 -- in.pdf out.pdf",
    "pdftotext -upw {} a.pdf",
    "osql -S db -U sa -P {}",
    "doveadm pw -s SHA512-CRYPT -p {}",
    "mkpasswd -m sha-512 {}",
    "openssl passwd -6 '{}'",
    "slappasswd -h '{SSHA}' -s {}",
    "grafana-cli admin reset-admin-password {}",
    "drush upwd admin \"{}\"",
    "veracrypt -t -p {} v.hc /mnt",
    "dscl . -passwd /Users/jo {}",
    "networksetup -setairportnetwork en0 MoorNet {}",
    "yt-dlp -u jo -p {} https://a.b",
    "nxc smb 10.0.0.1 -u jo -p {}",
    "net rpc shutdown -I 10.0.0.1 -U jo%{}",
    "cf auth jo {}",
    "steamcmd +login moorbuild {} +app_update 740 +quit",
    "mosquitto_passwd -b /etc/mosquitto/passwd sensor {}",
    "aws secretsmanager create-secret --name prod/pay --secret-string '{}'",
    "az keyvault secret set --vault-name kv-moor --name SmtpPassword --value {}",
    "gh secret set DEPLOY_PASS --repo moor/kasse --body \"{}\"",
    "dotnet user-secrets set DbPassword {}",
    "rclone obscure {}",
    "rootpw --plaintext {}",
    "curl -F password={} -F user=jo https://a.b",
    "New-LocalUser -Name jo -Password (ConvertTo-SecureString {} -AsPlainText -Force)",
    "rsync --password-file=<(echo {}) a rsync://b/c",
    "su - jo <<< {}",
    "echo -e \"{}\\n{}\" | passwd jo",
    "(echo {}; echo {}) | smbpasswd -s -a jo",
    // Dialogues and protocols.
    "printf 'USER jo\\r\\nPASS {}\\r\\n' | nc mail 110",
    "ftp -n h <<EOF\nuser jo {}\nput a\nEOF",
    "/msg NickServ IDENTIFY {}",
    "child.expect('Password:'); child.sendline('{}')",
    "tn.read_until(b\"Password: \")\ntn.write(b\"{}\\n\")",
    "ssh.connect('h', 22, 'jo', '{}')",
    "$db = new mysqli('h', 'jo', '{}', 'shop');",
    "A temporary password is generated for root@localhost: {}",
    "? Database password for ledger: › {}",
    // Configuration.
    "d-i passwd/root-password password {}\nd-i passwd/root-password-again password {}",
    "chpasswd:\n  list: |\n    ubuntu:{}\n  expire: false",
    "<AdministratorPassword>\n  <Value>{}</Value>\n</AdministratorPassword>",
    "\"admin_pw\": {\"value\": \"{}\"}",
    "option key '{}'",
    // Sentences.
    "log in as jo with {}",
    "anmelden mit jo / {}",
    "se connecter avec jo / {}",
    "entra con jo y {}",
    "zaloguj się jako jo, hasło {}",
    "the wifi is MoorNet / {}",
    "كلمة المرور هي {}",
    // The second place has no name.
    "password: {}\nand then type {} again",
];

#[test]
fn a_password_that_its_place_gives_away_is_masked_wherever_it_stands() {
    let survivors: Vec<String> = GIVEN_AWAY
        .iter()
        .filter_map(|case| {
            let masked = Redactor::shared()
                .redact(&case.replace("{}", PASSWORD))
                .into_owned();
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
            masked.contains(PASSWORD).then_some(masked)
        })
        .collect();
    assert!(survivors.is_empty(), "{}", survivors.join("\n"));
}

#[test]
fn words_and_a_number_are_a_password_where_a_sentence_says_so() {
    for text in [
        "usuario jo contraseña moosgabel77",
        "логин jo пароль moosgabel77",
        "用户名 jo 密码 moosgabel77",
        "pwd is moosgabel77",
        "keystore pass is moosgabel77, alias upload",
        "die WLAN-Passphrase lautet Moos-gabel-siebzehn",
        "le mot de passe wifi est « soleil vert 22 »",
    ] {
        let masked = Redactor::shared().redact(text);
        assert!(masked.contains("[redacted:password]"), "{masked}");
        assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
    }
}

#[test]
fn a_token_in_the_form_of_a_digest_or_uuid_is_found_directly_after_its_name() {
    for text in [
        "token 5f23327c359ffee96422fe24a2fdfd76 for the metrics",
        "der Token ist 5f23327c359ffee96422fe24a2fdfd76",
        "codecov token 5f23327c-359f-4ee9-8422-fe24a2fdfd76",
        "der API-Schlüssel ist 5f23327c-359f-4ee9-8422-fe24a2fdfd76",
        "https://h/calendar.ics?key=5f23327c359ffee96422fe24a2fdfd76",
    ] {
        let masked = Redactor::shared().redact(text);
        assert!(!masked.contains("5f23327c"), "{masked}");
        assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
    }
}

#[test]
fn an_aws_secret_is_found_before_and_far_after_its_id() {
    let (id, secret) = (
        format!("AKIA{}", "Q3EGRI7K".repeat(2)),
        "6gMsD2VWTVW4kfd4DiftyfAol6f1TOBtKOYH57Tc",
    );
    for text in [
        format!("{secret}\n{id}"),
        format!("use {secret} / {id}"),
        format!(
            "{id}, and the long one that belongs to it and that came in the second mail of Monday, is {secret}"
        ),
    ] {
        let masked = Redactor::shared().redact(&text);
        assert!(!masked.contains(secret), "{masked}");
    }
}

#[test]
fn lines_like_those_with_secrets_stay() {
    let changed: Vec<String> = [
        // Sentences about logins.
        "log in as admin and open Settings-Page2",
        "login as Test-User2 in the e2e test",
        "sign in with Google-OAuth2",
        "anmelden mit GitHub-App2",
        "zaloguj się przez Google-OAuth2",
        "wifi driver Realtek-RTL8852 crashes",
        "the wifi is on / off since 5GHz-Band2",
        "user jo Admin-Role2\ncan see the page",
        "la contraseña usuario2024 no existe en la tabla",
        "hasło administrator2 nie działa",
        "the password is stored in Vault-Prod2",
        "the password is case-sensitive",
        "passwordLabel: \"user.settings.password.label\"",
        "passwordHint: \"Minimum length 12\"",
        "pincode: 560001",
        "Settings > auth Provider2",
        "error: \"wrong password for user 12\"",
        "le mot de passe est « trop court »",
        "password → Auth2Service → DB",
        "PASS LoginForm2",
        // Commands and programs.
        "steamcmd +login builder +run_app_build \"$PWD/app_build_480.vdf\" +quit",
        "psql -f <(echo 'EXPLAIN (ANALYZE, BUFFERS)')",
        "cryptsetup luksDump --dump-master-key /dev/sda2",
        "gpg --recv-keys 5BE8A3F6C8A5C01D106C0AD820B1A390B168D356",
        "docker run -u 1000 -p 8080:80 nginx",
        "cargo test -u -p grov-Redact2",
        "gh secret set DB2_PASSWORD < file.txt",
        "sed -i 's/integrity: sha512-[A-Za-z0-9+\\/=]*/x/' lock.yaml",
        "robocopy C:\\src D:\\dst /pass:3 /MIR",
        "| user | passwd | role |\n|---|---|---|",
        "p.expect(\"$\"); p.sendline(\"cd Build-Dir2\")",
        "new mysqli(\"localhost\", \"root\", \"\", \"shop_v2\")",
        "a report is generated for jo: Report-2026.pdf",
        "<PasswordPolicy>\n  <Value>12</Value>\n</PasswordPolicy>",
        // Digests and identifiers.
        "cache key d41d8cd98f00b204e9800998ecf8427e",
        "idempotency key 550e8400-e29b-41d4-a716-446655440000",
        "session token id 550e8400-e29b-41d4-a716-446655440000",
        "https://h/page?key=overview-of-all-things-2024",
        "https://h/page?code=ERR_NOT_FOUND_IN_REGISTRY",
        "the row in prod with key 550e8400-e29b-41d4-a716-446655440000",
        "refresh token for user: 550e8400-e29b-41d4-a716-446655440000",
        "created api key for tenant: 550e8400-e29b-41d4-a716-446655440000",
        "\"salt\": \"5f23327c359ffee96422fe24a2fdfd76\"",
        "FROM node:22-bookworm-slim@sha256:5f23327c359ffee96422fe24a2fdfd76",
        "await page.fill('#username', 'testuser42');",
        "prompt('Password?'); ws.send('hello')",
    ]
    .iter()
    .filter_map(|text| {
        let masked = Redactor::shared().redact(text);
        (masked != *text).then(|| masked.into_owned())
    })
    .collect();
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}
