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
