//! Builds the tables of words and patterns before the first prompt needs them, which has only 8 ms.

use grov_domain::IntentQuestion;
use grov_memory::{mentioned_files, prompt_kind, refers_to_earlier_work};
use grov_redact::Redactor;

/// Prompts that look into most tables: limits, decisions, files, secrets, and earlier work, in scripts with and without spaces
/// between words.
pub(crate) const PROMPTS: &[&str] = &[
    "Fix the retry of failed webhooks in src/hooks.rs, but only change that file, don't push, and use an outbox because the worker \
     restarts. The password of the test server is changeme-4711.",
    "Wie haben wir das letzte Woche gelöst? Ändere nichts an der Datenbank, sondern nur die Tests.",
    "Corrige la connexion sans toucher aux migrations, puis lance les tests.",
    "继续上次的工作，不要修改支付模块。",
];

/// Builds them; takes some ten milliseconds of processor time, once.
pub fn warm_up() {
    for prompt in PROMPTS {
        let prompt = Redactor::shared().text(prompt);
        prompt_kind(&prompt);
        refers_to_earlier_work(&prompt);
        mentioned_files(&prompt);
        grov_rules::extract_intent(&IntentQuestion {
            prompts: vec![prompt.to_string()],
            first_files: Vec::new(),
        });
    }
}
