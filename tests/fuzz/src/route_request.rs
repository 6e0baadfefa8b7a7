//! A request of the Messages API: its translation is valid JSON for the chosen model.

use crate::controlled;
use grov_route::{Api, Transform, TranslationSettings, Translator};
use serde_json::Value;

/// Checks one request; the first byte chooses the API and the transforms.
pub(crate) fn check(data: &[u8]) {
    let (control, request) = controlled(data);
    let settings = TranslationSettings {
        model: "small".to_owned(),
        api: if control & 1 == 0 {
            Api::Chat
        } else {
            Api::Responses
        },
        transforms: if control & 2 == 0 {
            Vec::new()
        } else {
            Transform::ALL.to_vec()
        },
        ..TranslationSettings::default()
    };
    if let Ok(translated) = Translator::new(settings).request(request) {
        // A schema that is nested deeper than the parser goes is passed on unread.
        let body = serde_json::from_slice::<&serde_json::value::RawValue>(&translated.body);
        assert!(body.is_ok());
        if let Ok(body) = serde_json::from_slice::<Value>(&translated.body) {
            assert_eq!(body["model"], "small");
        }
    }
}
