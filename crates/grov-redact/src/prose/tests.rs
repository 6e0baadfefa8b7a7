//! Tests of copulas.

use crate::Redactor;

#[test]
fn a_host_after_on_er_or_je_is_no_password() {
    for text in [
        "Rotate the DB password on db-prod-01",
        "reset the admin password on staging2",
        "the password er db-prod-01",
        "the password je db-prod-01",
    ] {
        assert_eq!(Redactor::shared().redact(text), text);
    }
}

#[test]
fn a_copula_of_its_language_states_a_password() {
    for text in [
        "salasana on Herbst2024",
        "kodeord er Herbst2024",
        "Heslo je Herbst2024",
    ] {
        let masked = Redactor::shared().redact(text);
        assert!(!masked.contains("Herbst2024"), "{masked}");
    }
}

/// Passwords that people choose, in forms that files, hosts and sentences also have.
const CHOSEN: &[&str] = &[
    "Kiefer.Wolke.27",
    "blau_Nebel7",
    "Zebra!Kuchen",
    "copper-Lantern-9",
];

#[test]
fn a_password_is_found_however_the_sentence_names_it() {
    for sentence in [
        "the password for the staging box is {}",
        "use {} as the password",
        "log in as admin with the password {}",
        "the wifi password ({}) is on the wall",
        "das Passwort wurde auf {} geändert",
        "melde dich mit dem Kennwort {} an",
        "le mot de passe a été changé en {}",
        "cambié la contraseña a {}",
        "mudei a senha para {}",
        "ho cambiato la password in {}",
        "пароль поменяли на {}",
        "zmieniłem hasło na {}",
        "sunucunun şifresi {}",
        "密码改成了{}",
        "用密码 {} 登录",
        "パスワードを{}に変更しました",
        "비밀번호를 {}로 바꿨어요",
        "mật khẩu là {}",
    ] {
        for password in CHOSEN {
            let text = sentence.replace("{}", password);
            let masked = Redactor::shared().redact(&text);
            assert!(!masked.contains(password), "{masked}");
            assert_eq!(Redactor::shared().redact(&masked), masked, "twice");
        }
    }
}

#[test]
fn a_sentence_about_passwords_has_none() {
    for text in [
        "log in with the password from 1Password",
        "das Passwort wurde auf dem Server geändert",
        "the password was changed in version 2.4.1",
        "cambié la contraseña a petición de Ana",
        "пароль поменяли на сервере",
        "the password (at least 12 characters) is required",
        "use bcrypt as the password hash",
        "send it as the password parameter",
        "用密码登录时报错",
        "パスワードを3回間違えた",
        "mot de passe changé en production",
        "see docs/Auth.Passwords.md for the password rules",
    ] {
        assert_eq!(Redactor::shared().redact(text), text);
    }
}

#[test]
fn a_key_is_found_by_its_name_in_any_language() {
    let key = "GTd7FguoV8FWnFbB0JxXcU1vsHiQMaRiNTN9Ox98";
    for sentence in [
        "der geheime Zugriffsschlüssel ist {}",
        "la clé d'accès secrète est {}",
        "clave secreta de AWS {}",
        "секретный ключ: {}",
        "AWS 的秘密访问密钥是 {}",
        "tajny klucz AWS {}",
        "シークレットアクセスキーは {} です",
    ] {
        let masked = Redactor::shared()
            .redact(&sentence.replace("{}", key))
            .into_owned();
        assert!(!masked.contains(key), "{masked}");
    }
}

#[test]
fn app_passwords_have_spaces_or_hyphens() {
    for text in [
        "app password qaol lvxs ebai rovd",
        "app-specific password vrga-nyzn-tsww-uupm for icloud",
        "应用专用密码：qaol lvxs ebai rovd",
        "smtp password is qaol lvxs ebai rovd for gmail",
    ] {
        let masked = Redactor::shared().redact(text);
        assert!(masked.contains("[redacted:"), "{masked}");
        assert!(!masked.contains("ebai") && !masked.contains("tsww"), "{masked}");
    }
    let text = "an app password must have four more than this";
    assert_eq!(Redactor::shared().redact(text), text);
}

#[test]
fn tokens_in_file_names_are_found() {
    for text in [
        "notes/dump_sg.bq4zbgmcktq6vxyz0a1b2c.dq7w3e4r5t6y7u8i9o0pa1s2d3f4g5h6j7k8l9z0x1c_old.txt",
        "exports/hf_rLUBPgDToQaWsEdRfTgYhUjIkOlPmN_old.csv",
        "backup_hf_rLUBPgDToQaWsEdRfTgYhUjIkOlPm7.csv",
        "bus-RpZNlHCGIHiCkUR4vujHx2Kq9Lm3Nw5Tb7Yc1Vd0Ze4=.key",
        "logs/https___fc69e290d9f945ffa4d1337349e455d5@sentry.io_1.log",
    ] {
        assert!(Redactor::shared().redact(text).contains("[redacted:"), "{text}");
    }
    for text in [
        "go.sum: h1:RpZNlHCGIHiCkUR4vujHx2Kq9Lm3Nw5Tb7Yc1Vd0Ze4=.",
        "sha256-RpZNlHCGIHiCkUR4vujHx2Kq9Lm3Nw5Tb7Yc1Vd0Ze4=.sri",
        "core_re_exports_and_more_things",
    ] {
        assert_eq!(Redactor::shared().redact(text), text);
    }
}
