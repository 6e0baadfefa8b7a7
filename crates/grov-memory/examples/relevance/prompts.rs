//! Prompts that fit any project and have no specific subject.

use crate::data::Question;
use std::collections::HashMap;

/// Their name in the tables.
pub(crate) const DATASET: &str = "generic";

/// The prompts as questions without an answer.
pub(crate) fn generic() -> Vec<Question> {
    GENERIC
        .iter()
        .map(|text| Question {
            dataset: DATASET.to_owned(),
            category: DATASET.to_owned(),
            project: DATASET.to_owned(),
            text: (*text).to_owned(),
            files: Vec::new(),
            created_at: None,
            exclude_prefix: None,
            relevant: HashMap::new(),
        })
        .collect()
}

const GENERIC: &[&str] = &[
    "fix the failing test",
    "add a test",
    "refactor this file",
    "run the tests",
    "fix the bug",
    "write unit tests for this",
    "what does this code do?",
    "explain this function",
    "can you fix the error?",
    "why does the build fail?",
    "clean up the code",
    "update the documentation",
    "add error handling",
    "improve performance",
    "make it faster",
    "review my changes",
    "create a pull request",
    "add logging",
    "remove dead code",
    "fix the lint errors",
    "implement this feature",
    "debug this issue",
    "it does not work, please fix",
    "there is a bug, can you check?",
    "update the dependencies",
    "add a new endpoint",
    "write a README",
    "rename this variable",
    "why is this test failing?",
    "optimize this query",
    "commit the changes and push",
    "rebase onto main and fix conflicts",
    "add a config option",
    "fix the type errors",
    "what changed in the last commit?",
    "format the code",
    "simplify this",
    "can you double check everything?",
    "use the existing helper instead",
    "now do the same for the other files",
    "Schreibe einen Test für diese Funktion",
    "corrige el error",
    "ajoute un test",
    "исправь ошибку в тестах",
    "修复失败的测试",
    "テストを追加して",
    "오류를 수정해줘",
];
