//! Tests of provider files.

use super::*;
use crate::target::ProviderApi;
use proptest::prelude::*;
use std::time::Duration;

fn environment(name: &str) -> Option<String> {
    match name {
        "KEY" => Some("key-value\n".to_owned()),
        "EMPTY" => Some(String::new()),
        "BROKEN" => Some("two words".to_owned()),
        _ => None,
    }
}

fn read(text: &str) -> ProviderFile {
    ProviderFile::read(text, &environment).unwrap()
}

/// The problems as texts.
fn problems(text: &str) -> Vec<String> {
    let error = ProviderFile::read(text, &environment).unwrap_err();
    error.problems.iter().map(Problem::to_string).collect()
}

fn one_problem(text: &str) -> String {
    let mut all = problems(text);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// A provider with extra lines, and one model with extra lines.
fn provider(provider_lines: &str, model_lines: &str) -> String {
    let indented =
        |lines: &str, by: &str| -> String { lines.lines().map(|line| format!("{by}{line}\n")).collect() };
    format!(
        "providers:\n  - name: p\n    endpoint: http://localhost:1/v1\n{}    models:\n      a:\n        model: m\n{}",
        indented(provider_lines, "    "),
        indented(model_lines, "        ")
    )
}

#[test]
fn a_key_with_a_dollar_and_no_braces_is_a_warning() {
    let file = read(&provider("api_key: $KEY", ""));
    assert_eq!(
        file.warnings()[0].to_string(),
        "line 4: `api_key` is sent as it is written, with the `$` (write ${KEY} for the variable)"
    );
    assert!(read(&provider("api_key: ${KEY}", "")).warnings().is_empty());
}

#[test]
fn a_file_with_everything() {
    let file = read(include_str!("../../providers.example.yaml"));
    let fast = file.target("fast").unwrap();
    assert_eq!(
        (fast.provider.as_str(), fast.model.as_str()),
        ("ollama", "qwen3:32b")
    );
    assert_eq!(fast.transforms, ["schema:ollama"]);
    assert!(fast.keys.is_empty() && fast.is_local());
    let deep = file.target("deep").unwrap();
    assert_eq!(deep.keys.len(), 1);
    assert_eq!(deep.prices.unwrap().output, 0.42);
    assert_eq!(deep.timeouts.idle, Some(Duration::from_secs(120)));
    assert_eq!(deep.transforms, ["deepseek", "reasoning", "schema:generic"]);
    let chain: Vec<String> = file
        .chain("deep")
        .iter()
        .map(|target| target.label.clone())
        .collect();
    assert_eq!(chain, ["deep", "fast"]);
    let native = file.target("glm").unwrap();
    assert_eq!(native.api, ProviderApi::Anthropic);
    assert!(native.transforms.is_empty());
    assert_eq!(file.rules().long_context.as_ref().unwrap().threshold, 100_000);
    assert_eq!(file.rules().agents[0], ("*".to_owned(), "chat".to_owned()));
    assert_eq!(file.warnings(), []);
}

#[test]
fn a_model_replaces_what_its_provider_says_and_empty_values_replace_nothing() {
    let file = read(&provider(
        "max_tokens: 100\ntransform: [reasoning]\nparams: {top_k: 4, nested: {a: [1, 2.5, true, null]}}",
        "transform: []\nparams: {}\nmax_tokens: 7",
    ));
    let target = file.target("a").unwrap();
    assert_eq!(target.max_tokens, Some(7));
    assert_eq!(target.transforms, ["reasoning"]);
    let params = serde_json::json!({"top_k": 4, "nested": {"a": [1, 2.5, true, null]}});
    assert_eq!(serde_json::Value::Object(target.params.clone()), params);
}

#[test]
fn keys_come_from_the_environment_and_form_a_pool() {
    let file = read(&provider(
        "api_key: ${KEY}\napi_keys: [\"pre-${KEY}-post\", $KEY, '']",
        "",
    ));
    let keys: Vec<&str> = file
        .target("a")
        .unwrap()
        .keys
        .iter()
        .map(|key| key.expose())
        .collect();
    assert_eq!(keys, ["key-value", "pre-key-value-post", "$KEY"]);
}

#[test]
fn a_missing_variable_is_named() {
    for name in ["UNSET", "EMPTY"] {
        let file = read(&provider(&format!("api_key: ${{{name}}}"), ""));
        let warning = file.warnings()[0].to_string();
        assert!(
            warning.starts_with(&format!("line 4: the environment variable {name}")),
            "{warning}"
        );
        let unusable = file.target("a").unwrap().unusable().unwrap();
        assert!(
            unusable.contains(&format!("variable {name} is not set")),
            "{unusable}"
        );
    }
}

#[test]
fn a_missing_variable_disables_no_other_provider_and_no_other_key() {
    let other = "  - name: q\n    endpoint: http://q\n    api_key: ${KEY}\n    models: {b: m}\n";
    let file = read(&(provider("api_key: ${UNSET}", "") + other));
    assert!(file.target("a").unwrap().unusable().is_some());
    assert!(file.target("b").unwrap().unusable().is_none());
    let file = read(&provider("api_keys: [\"${UNSET}\", \"${KEY}\"]", ""));
    let target = file.target("a").unwrap();
    assert!(target.unusable().is_none() && target.keys.len() == 1);
}

#[test]
fn a_key_in_a_file_that_others_can_read_is_warned_about() {
    let warned = |line: &str, mode: u32| {
        let mut file = read(&provider(line, ""));
        file.check_permissions(mode);
        file.warnings()
            .iter()
            .any(|warning| warning.message.contains("other users"))
    };
    for mode in [0o644, 0o640, 0o604] {
        assert!(warned("api_key: hunter2", mode), "{mode:o}");
        assert!(!warned("api_key: ${KEY}", mode), "{mode:o}");
    }
    assert!(!warned("api_key: hunter2", 0o600));
}

#[test]
fn a_problem_shows_no_key() {
    for line in [
        "api_key: ${BROKEN}",
        "api_key: [hunter2]",
        "api_key: {hunter2: hunter2}",
        "api_key: 'hun ter2'",
    ] {
        let problem = one_problem(&provider(line, ""));
        assert!(
            !problem.contains("two words") && !problem.contains("ter2"),
            "{problem}"
        );
    }
    let file = read(&provider("api_key: hunter2", ""));
    assert!(!format!("{file:?}").contains("hunter2"));
}

#[test]
fn misspelt_names_get_the_nearest_known_one() {
    let cases = [
        (
            provider("transforms: [reasoning]", ""),
            "line 4: unknown key `transforms` in `a provider` (did you mean `transform`?)",
        ),
        (
            provider("transform: [gemini]", ""),
            "line 4: unknown transform `gemini` (did you mean `schema:gemini`?)",
        ),
        (
            provider("transform:\n  - reasonning", ""),
            "line 5: unknown transform `reasonning` (did you mean `reasoning`?)",
        ),
        (
            provider("api: chatt", ""),
            "line 4: unknown API `chatt` (did you mean `chat`?)",
        ),
        (
            provider("", "max_token: 5"),
            "line 7: unknown key `max_token` in `a model` (did you mean `max_tokens`?)",
        ),
        (
            provider("timeouts: {idel: 5}", ""),
            "line 4: unknown key `idel` in `timeouts` (did you mean `idle`?)",
        ),
        (
            "provider: []".to_owned(),
            "line 1: unknown key `provider` in `the file` (did you mean `providers`?)",
        ),
        (
            provider("", "") + "rules:\n  defualt: a\n",
            "line 8: unknown key `defualt` in `rules` (did you mean `default`?)",
        ),
        (
            provider("", "") + "rules:\n  default: b\n",
            "line 8: `default` names the unknown label `b` (did you mean `a`?)",
        ),
        (
            provider("", "") + "rules:\n  think: {model: a, effort: hihg}\n",
            "line 8: unknown effort `hihg` (did you mean `high`?)",
        ),
        (
            provider("", "fallback: [aa]"),
            "line 5: `fallback` of `a` names the unknown label `aa` (did you mean `a`?)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(one_problem(&text), expected, "{text}");
    }
}

#[test]
fn bad_values_are_reported_with_line_and_advice() {
    let cases = [
        (
            provider("max_tokens: -5", ""),
            "line 4: `max_tokens` must be a whole number above 0",
        ),
        (
            provider("max_tokens: 1.5", ""),
            "line 4: `max_tokens` must be a whole number above 0",
        ),
        (
            provider("max_tokens: many", ""),
            "line 4: `max_tokens` is a text, expected a whole number above 0",
        ),
        (
            provider("timeouts: {idle: 0}", ""),
            "line 4: `idle` must be above 0",
        ),
        (
            provider("", "prices: {input: -1, output: 2}"),
            "line 7: `input` must not be negative",
        ),
        (
            provider("", "prices: {input: 1}"),
            "line 7: `prices` needs `input` and `output`",
        ),
        (
            provider("transform: reasoning", ""),
            "line 4: `transform` is a text, expected a list",
        ),
        (
            provider("params: [1]", ""),
            "line 4: `params` is a list, expected a mapping",
        ),
        (
            provider("api: anthropic\ntransform: [reasoning]", ""),
            "line 5: `transform` has no effect",
        ),
        (
            "providers:\n  - endpoint: http://x/v1\n    models: {a: m}\n".to_owned(),
            "line 2: a provider has no `name`",
        ),
        (
            "providers:\n  - name: x\n    models: {a: m}\n".to_owned(),
            "line 2: a provider has no `endpoint`",
        ),
        (
            "providers:\n  - name: x\n    endpoint: http://x\n    models:\n      a: 1.5\n".to_owned(),
            "line 5: `a` is a number, expected a text (write it in quotes)",
        ),
        (
            "providers:\n  - name: x\n    endpoint: http://x\n    models:\n      a: {max_tokens: 5}\n"
                .to_owned(),
            "line 5: the label `a` has no `model`",
        ),
        (
            "providers:\n  - name: x\n    endpoint: http://x\n    models: {a b: m}\n".to_owned(),
            "line 4: the label `a b` has white space",
        ),
        (
            "[]".to_owned(),
            "line 1: `the file` is a list, expected a mapping",
        ),
        ("providers: [5]".to_owned(), "line 1: `a provider` is a number"),
    ];
    for (text, expected) in cases {
        let problem = one_problem(&text);
        assert!(problem.starts_with(expected), "{problem}\n{text}");
    }
}

#[test]
fn bad_endpoints_are_explained() {
    let cases = [
        ("localhost:11434", "has the scheme"),
        ("ftp://x/v1", "has the scheme `ftp`"),
        ("/v1", "is no URL"),
        ("http://", "is no URL"),
        ("http://user:hunter2@x/v1", "contains a user name or password"),
        ("http://x/v1?key=hunter2", "has a query or fragment"),
        ("https://x/v1/chat/completions", "write https://x/v1"),
    ];
    for (endpoint, expected) in cases {
        let text = format!("providers:\n  - name: x\n    endpoint: {endpoint}\n    models: {{a: m}}\n");
        let problem = one_problem(&text);
        assert!(
            problem.starts_with("line 3") && problem.contains(expected),
            "{problem}"
        );
        assert!(!problem.contains("hunter2"), "{problem}");
    }
}

#[test]
fn transforms_that_exclude_each_other_are_refused() {
    let twice = one_problem(&provider("transform: [reasoning, reasoning]", ""));
    assert_eq!(
        twice,
        "line 4: the transform `reasoning` is listed twice (list it once)"
    );
    let two = one_problem(&provider("transform: [schema:openai, schema:gemini]", ""));
    assert!(two.contains("exclude each other"), "{two}");
}

#[test]
fn parameters_that_are_not_sent_are_warned_about() {
    let file = read(&provider("params: {top_k: 4}", ""));
    assert!(
        file.warnings()[0]
            .message
            .starts_with("`params` of `a` are not sent")
    );
    let file = read(&provider("params: {top_k: 4}\ntransform: [customparams]", ""));
    assert_eq!(file.warnings(), []);
}

#[test]
fn two_providers_with_one_name_are_warned_about() {
    let same = "  - name: p\n    endpoint: http://x/v1\n    models:\n      b: other\n";
    let file = read(&(provider("", "") + same));
    assert_eq!(file.targets().len(), 2);
    let warning = file.warnings()[0].to_string();
    assert!(
        warning.starts_with("line 7: the provider `p` is already on line 2"),
        "{warning}"
    );
}

#[test]
fn zero_tokens_are_no_limit_and_warned_about() {
    let file = read(&provider("max_tokens: 0", ""));
    assert_eq!(file.target("a").unwrap().max_tokens, None);
    let file = read(&provider("max_tokens: 100", "max_tokens: 0"));
    assert_eq!(file.target("a").unwrap().max_tokens, Some(100));
    let warning = file.warnings()[0].to_string();
    assert!(
        warning.ends_with("`max_tokens: 0` sets no limit (leave the line out)"),
        "{warning}"
    );
}

#[test]
fn unknown_keys_of_the_file_of_claude_hybrid_are_warned_about() {
    let text = "version: 2\n".to_owned() + &provider("colour: red", "max_token: 5");
    assert_eq!(problems(&text).len(), 3);
    let path = Path::new("/home/u/.claude-hybrid/config.yaml");
    let file = ProviderFile::read_at(path, &text, &environment).unwrap();
    assert!(file.target("a").is_some());
    let lines: Vec<u64> = file.warnings().iter().map(|warning| warning.line).collect();
    assert_eq!(lines, [1, 5, 9]);
    // Only the keys are treated differently.
    let error = ProviderFile::read_at(path, &provider("max_tokens: many", ""), &environment).unwrap_err();
    assert_eq!(error.problems.len(), 1);
}

#[test]
fn labels_are_unique() {
    let second = "  - name: q\n    endpoint: http://x/v1\n    models:\n      a: other\n";
    assert!(
        one_problem(&(provider("", "") + second)).starts_with("line 10: the label `a` is already on line 5")
    );
    let twice = "providers:\n  - name: x\n    endpoint: http://x\n    models:\n      a: m\n      a: n\n";
    assert_eq!(
        one_problem(twice),
        "line 6: invalid YAML: duplicate mapping key: a (give each label and key once)"
    );
}

#[test]
fn a_cycle_of_fallbacks_is_reported_once() {
    let models =
        "a: {model: m, fallback: [b]}\nb: {model: m, fallback: [c]}\nc: {model: m, fallback: [d, b]}\nd: m\n";
    let text = format!(
        "providers:\n  - name: x\n    endpoint: http://x\n    models:\n{}",
        models
            .lines()
            .map(|line| format!("      {line}\n"))
            .collect::<String>()
    );
    assert_eq!(
        one_problem(&text),
        "line 6: `fallback` is cyclic: b → c → b (remove one of these fallbacks)"
    );
    let to_itself = provider("", "fallback: [a]");
    assert!(one_problem(&to_itself).contains("a → a"));
}

#[test]
fn a_chain_tries_the_fallbacks_of_a_fallback_before_the_next_one() {
    let models = "a: {model: m, fallback: [b, d]}\nb: {model: m, fallback: [c, d]}\nc: m\nd: m\n";
    let text = format!(
        "providers:\n  - name: x\n    endpoint: http://x\n    models:\n{}",
        models
            .lines()
            .map(|line| format!("      {line}\n"))
            .collect::<String>()
    );
    let file = read(&text);
    let labels = |label: &str| -> Vec<String> {
        file.chain(label)
            .iter()
            .map(|target| target.label.clone())
            .collect()
    };
    assert_eq!(labels("a"), ["a", "b", "c", "d"]);
    assert_eq!(labels("c"), ["c"]);
    assert!(labels("nothing").is_empty());
}

#[test]
fn all_problems_are_reported_in_order() {
    let text = provider("api: x\nmax_tokens: -1", "fallback: [z]\nzzz: 1");
    let lines: Vec<String> = problems(&text)
        .iter()
        .map(|problem| problem[..7].to_owned())
        .collect();
    assert_eq!(lines, ["line 4:", "line 5:", "line 7:", "line 10"]);
}

#[test]
fn invalid_yaml_has_a_line_and_advice() {
    let tab = one_problem("providers:\n\t- name: x\n");
    assert!(
        tab.starts_with("line 2: invalid YAML: tabs") && tab.ends_with("(indent with spaces)"),
        "{tab}"
    );
    assert!(one_problem("providers: [").starts_with("line 1: invalid YAML: unclosed bracket"));
    assert!(one_problem("providers: []\n---\na: 1\n").contains("remove the `---` line"));
}

#[test]
fn empty_files_are_usable_and_warned_about() {
    for text in [
        "",
        "# nothing yet\n",
        "providers:\n",
        "providers:\n  - name: x\n    endpoint: http://x\n",
    ] {
        let file = read(text);
        assert!(file.targets().is_empty());
        assert_eq!(file.warnings().len(), 1, "{text}");
    }
}

#[test]
fn a_key_sent_in_the_clear_is_warned_about() {
    let text = provider("api_key: k", "");
    assert_eq!(read(&text).warnings(), []);
    let remote = text.replace("localhost", "example.com");
    assert!(read(&remote).warnings()[0].message.contains("unencrypted"));
}

#[test]
fn labels_that_older_yaml_reads_as_booleans_are_texts() {
    let text = "providers:\n  - name: on\n    endpoint: http://x\n    models: {y: no}\n";
    let file = read(text);
    let target = file.target("y").unwrap();
    assert_eq!((target.provider.as_str(), target.model.as_str()), ("on", "no"));
}

#[test]
fn anchors_and_merge_keys_work() {
    let text = "providers:\n  - name: x\n    endpoint: http://x\n    models:\n      a: &base {model: m, max_tokens: 5}\n      b:\n        <<: *base\n        max_tokens: 6\n";
    let file = read(text);
    assert_eq!(file.target("b").unwrap().max_tokens, Some(6));
    assert_eq!(file.target("b").unwrap().model, "m");
}

proptest! {
    #[test]
    fn arbitrary_text_does_no_harm(text in "\\PC{0,200}") {
        let _ = ProviderFile::read(&text, &environment);
    }

    #[test]
    fn a_damaged_file_does_no_harm(at in 0_usize..2000, insert in "[\\t\\n:\\[\\]{}&*!|>'\"%#a0-]{0,3}") {
        let mut text = include_str!("../../providers.example.yaml").to_owned();
        let at = at.min(text.len());
        if text.is_char_boundary(at) {
            text.insert_str(at, &insert);
        }
        if let Err(error) = ProviderFile::read(&text, &environment) {
            prop_assert!(!error.problems.is_empty());
        }
    }
}
