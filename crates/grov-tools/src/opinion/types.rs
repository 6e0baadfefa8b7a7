//! The answers, with the fields that skills rely on.

use crate::schema::{boolean, integer, list, nullable, object, text, word};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer of `validate`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Validation {
    pub verdict: ValidationVerdict,
    #[serde(default)]
    pub issues: Vec<PlanIssue>,
    #[serde(default)]
    pub questions_for_user: Vec<String>,
    #[serde(default)]
    pub recommended_edits: Vec<Edit>,
}

/// What a plan needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ValidationVerdict {
    Approved,
    NeedsSimplification,
    NeedsClarification,
}

/// A problem of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PlanIssue {
    #[serde(default)]
    pub section: String,
    pub problem: String,
    #[serde(default)]
    pub suggestion: String,
}

/// A change to a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Edit {
    #[serde(default)]
    pub section: String,
    #[serde(default)]
    pub current: String,
    pub proposed: String,
}

impl Validation {
    pub(super) fn schema() -> Value {
        object(&[
            (
                "verdict",
                word(&["approved", "needs_simplification", "needs_clarification"]),
            ),
            (
                "issues",
                list(object(&[
                    ("section", text("section of the plan")),
                    ("problem", text("what is wrong")),
                    ("suggestion", text("what to do")),
                ])),
            ),
            (
                "questions_for_user",
                list(text("a question, if requirements are unclear")),
            ),
            (
                "recommended_edits",
                list(object(&[
                    ("section", text("section of the plan")),
                    ("current", text("the text now")),
                    ("proposed", text("the text instead")),
                ])),
            ),
        ])
    }
}

/// An answer of `review`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Review {
    #[serde(default)]
    pub step_reviewed: Option<u64>,
    pub verdict: ReviewVerdict,
    #[serde(default)]
    pub plan_adherence: Adherence,
    #[serde(default)]
    pub issues: Vec<CodeIssue>,
    #[serde(default)]
    pub approved_steps: Vec<u64>,
    #[serde(default)]
    pub questions_for_user: Vec<String>,
}

/// What the changes need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ReviewVerdict {
    Approved,
    NeedsWork,
    OffTrack,
}

/// How far the changes follow the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Adherence {
    pub on_track: bool,
    #[serde(default)]
    pub deviations: Vec<String>,
}

/// A problem of the changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct CodeIssue {
    #[serde(default)]
    pub file: String,
    #[serde(default)]
    pub line: Option<u64>,
    #[serde(default)]
    pub severity: String,
    pub issue: String,
    #[serde(default)]
    pub suggestion: String,
}

impl Review {
    pub(super) fn schema() -> Value {
        object(&[
            ("step_reviewed", nullable(integer("the step, if one was named"))),
            ("verdict", word(&["approved", "needs_work", "off_track"])),
            (
                "plan_adherence",
                object(&[
                    ("on_track", boolean("whether the changes follow the plan")),
                    ("deviations", list(text("a deviation that needs attention"))),
                ]),
            ),
            (
                "issues",
                list(object(&[
                    ("file", text("path")),
                    ("line", nullable(integer("line in the new file"))),
                    ("severity", text("low, medium or high")),
                    ("issue", text("what is wrong")),
                    ("suggestion", text("what to do")),
                ])),
            ),
            ("approved_steps", list(integer("a step that passes"))),
            ("questions_for_user", list(text("a question"))),
        ])
    }
}

/// An answer of `architect`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Architecture {
    pub complexity_assessment: Complexity,
    #[serde(default)]
    pub architectural_decisions: Vec<Decision>,
    pub implementation_strategy: Strategy,
    #[serde(default)]
    pub risks: Vec<NamedRisk>,
    #[serde(default)]
    pub questions_for_user: Vec<String>,
}

/// How large a feature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Complexity {
    Simple,
    Moderate,
    Complex,
    SystemIntegration,
}

/// A decision to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Decision {
    pub decision: String,
    #[serde(default)]
    pub options: Vec<Choice>,
    #[serde(default)]
    pub recommendation: String,
    #[serde(default)]
    pub rationale: String,
}

/// A possible way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Choice {
    pub option: String,
    #[serde(default)]
    pub pros: Vec<String>,
    #[serde(default)]
    pub cons: Vec<String>,
}

/// How to build it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Strategy {
    pub approach: String,
    #[serde(default)]
    pub phases: Vec<Phase>,
    #[serde(default)]
    pub dependencies: Vec<String>,
}

/// A part of the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Phase {
    pub phase: String,
    #[serde(default)]
    pub deliverables: Vec<String>,
}

/// A risk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct NamedRisk {
    pub risk: String,
    #[serde(default)]
    pub mitigation: String,
    pub severity: Severity,
}

/// How bad a risk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Severity {
    Low,
    Medium,
    High,
}

impl Architecture {
    pub(super) fn schema() -> Value {
        let texts = |meaning| list(text(meaning));
        object(&[
            (
                "complexity_assessment",
                word(&["simple", "moderate", "complex", "system_integration"]),
            ),
            (
                "architectural_decisions",
                list(object(&[
                    ("decision", text("what is to be decided")),
                    (
                        "options",
                        list(object(&[
                            ("option", text("a way")),
                            ("pros", texts("for it")),
                            ("cons", texts("against it")),
                        ])),
                    ),
                    ("recommendation", text("the option to take")),
                    ("rationale", text("why")),
                ])),
            ),
            (
                "implementation_strategy",
                object(&[
                    ("approach", text("how to build it")),
                    (
                        "phases",
                        list(object(&[
                            ("phase", text("a part of the work")),
                            ("deliverables", texts("a result")),
                        ])),
                    ),
                    ("dependencies", texts("what it depends on")),
                ]),
            ),
            (
                "risks",
                list(object(&[
                    ("risk", text("what may go wrong")),
                    ("mitigation", text("what to do about it")),
                    ("severity", word(&["low", "medium", "high"])),
                ])),
            ),
            (
                "questions_for_user",
                texts("a clarification needed before planning"),
            ),
        ])
    }
}
