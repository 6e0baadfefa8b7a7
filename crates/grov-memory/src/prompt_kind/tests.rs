//! Tests of prompts with and without a request.

use super::*;

#[track_caller]
fn check(expected: PromptKind, prompts: &[&str]) {
    let others: Vec<_> = prompts
        .iter()
        .map(|prompt| (prompt, prompt_kind(prompt)))
        .filter(|(_, asked)| *asked != expected)
        .collect();
    assert!(others.is_empty(), "not {expected:?}: {others:#?}");
}

#[test]
fn acknowledgements_have_no_request() {
    check(
        PromptKind::Acknowledgement,
        &[
            "thanks",
            "Thanks!",
            "thank you so much",
            "ty",
            "thx :)",
            "ok",
            "OK.",
            "okay",
            "Okkk",
            "k",
            "yes",
            "yesss!",
            "yep",
            "yes please",
            "Yes, go ahead",
            "yes, do that",
            "go on",
            "go for it",
            "continue",
            "Continue.",
            "please continue",
            "keep going",
            "proceed",
            "carry on",
            "sounds good",
            "looks good to me",
            "LGTM",
            "lgtm 👍",
            "perfect, thanks!",
            "great work",
            "nice",
            "cool cool cool",
            "no",
            "nope",
            "no thanks",
            "never mind",
            "stop",
            "wait",
            "hold on",
            "try again",
            "do it",
            "let's do it",
            "yes to all",
            "option 2",
            "the first one",
            "2 and 3",
            "both",
            "all of them",
            "that's right",
            "I don't know",
            "what?",
            "why not",
            "hi",
            "hello there",
            "next",
            "and now?",
            "ok, commit and push",
            "commit this please",
            "you're welcome",
            "go-ahead",
            "yes/no",
            "it's good now",
            "[Image #1] ok",
            "I\u{2019}m ready",
            "don't",
            // German, French, Spanish, Portuguese, Italian, Dutch, Polish, Czech, Swedish, Finnish, Hungarian, Turkish
            "danke!",
            "ja bitte",
            "mach weiter",
            "nein danke",
            "passt so",
            "merci beaucoup",
            "oui, vas-y",
            "d'accord",
            "s'il te plaît",
            "gracias",
            "sí, por favor",
            "continúa",
            "está bien",
            "obrigado",
            "sim, pode continuar",
            "va bene",
            "grazie mille",
            "ga door",
            "ja graag",
            "dziękuję",
            "tak, dalej",
            "díky",
            "tack så mycket",
            "kiitos",
            "köszönöm",
            "teşekkürler",
            "tamam, devam et",
            // Russian, Ukrainian, Greek, Arabic, Hebrew, Hindi
            "спасибо",
            "да, продолжай",
            "хорошо, давай дальше",
            "ок",
            "дякую",
            "ευχαριστώ",
            "شكرا",
            "نعم، استمر",
            "تمام",
            "תודה רבה",
            "כן, תמשיך",
            "धन्यवाद",
            "हाँ, जारी रखें",
            "ठीक है",
            // Chinese, Japanese, Korean, Thai, Vietnamese, Indonesian
            "谢谢",
            "好的，继续",
            "请继续",
            "可以",
            "没问题，谢谢你",
            "ありがとうございます",
            "はい、続けてください",
            "お願いします",
            "了解です",
            "네, 계속해주세요",
            "감사합니다!",
            "좋아요",
            "ใช่ครับ ทำต่อเลย",
            "ขอบคุณค่ะ",
            "cảm ơn",
            "tiếp tục đi",
            "lanjutkan",
            "terima kasih",
        ],
    );
}

#[test]
fn wordless_prompts_have_no_request() {
    check(
        PromptKind::Wordless,
        &[
            "",
            "  \n",
            "1",
            "2.",
            "1, 2, 3",
            "👍",
            "🎉🎉",
            "✅ ❤\u{fe0f}",
            "...",
            "?",
            "1\u{fe0f}\u{20e3}",
            "[Image #2]",
            "-----",
            ":)",
        ],
    );
    check(PromptKind::Wordless, &[&"=".repeat(1000)]);
}

#[test]
fn commands_and_text_of_the_client_are_distinguished() {
    check(
        PromptKind::Command,
        &[
            "/compact",
            "/clear",
            "/model opus",
            "/mcp:tool run",
            "/review the retry",
            "!ls -la",
            "!./run.sh",
        ],
    );
    check(
        PromptKind::ClientText,
        &[
            "[Request interrupted by user]",
            "[Request interrupted by user for tool use]",
            "<task-notification>\n<task-id>b1</task-id></task-notification>",
            "<command-name>/clear</command-name>",
            "<local-command-stdout>ok</local-command-stdout>",
            "<bash-input>ls</bash-input>",
            "Stop hook feedback: tests fail",
            "This session is being continued from a previous conversation that ran out of context.",
        ],
    );
}

#[test]
fn prompts_with_a_request_are_substantive() {
    check(
        PromptKind::Substantive,
        &[
            "no, don't touch the parser",
            "don't touch X",
            "yes but keep the API",
            "ok now fix the retry in upload.rs",
            "thanks, now add a test",
            "continue with the migration",
            "go on with step 2 of the cache rewrite",
            "yes, use tokio",
            "stop using unwrap",
            "no mocks",
            "why does login fail?",
            "fix it",
            "run the tests",
            "retry logic",
            "upload.rs",
            "/src/a.rs is broken",
            "/etc/nginx.conf",
            "ok, but not in main.rs",
            "option 2, but with redis",
            "2: use postgres",
            "timeout",
            "wie funktioniert der cache?",
            "nein, lass den Parser in Ruhe",
            "non, ne touche pas au parser",
            "no, no toques el analizador",
            "нет, не трогай парсер",
            "да, но оставь API",
            "لا، لا تلمس المحلل",
            "לא, אל תיגע בקובץ",
            "नहीं, पार्सर को मत छुओ",
            "不，别动解析器",
            "好的，现在修复上传重试",
            "继续重构缓存",
            "はい、でもAPIはそのまま",
            "いいえ、パーサーには触らないで",
            "아니요, 파서는 건드리지 마세요",
            "네, 그런데 캐시는 유지하세요",
            "ไม่ อย่าแตะพาร์เซอร์",
            "không, đừng sửa parser",
            "why is `limit` 5?",
            "# Plan: caching",
            "ok_or_else",
            "v2",
        ],
    );
    check(PromptKind::Substantive, &[&"thanks a lot ".repeat(100)]);
}

proptest::proptest! {
    #[test]
    fn any_text_is_handled(prompt in "\\PC{0,300}") {
        let _ = prompt_kind(&prompt);
    }
}

#[test]
fn the_lists_are_sorted() {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    assert!(words.is_sorted_by(|one, other| one < other));
    assert!(words.iter().all(|word| has_word(WORDS, word)));
    assert!(PHRASES.is_sorted_by(|one, other| one < other));
}
