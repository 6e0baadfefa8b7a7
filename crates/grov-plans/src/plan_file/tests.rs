use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use time::macros::datetime;

const AT: OffsetDateTime = datetime!(2026-11-26 21:40:05.123 UTC);

fn plan(text: &str) -> (tempfile::TempDir, PlanFile) {
    let tree = tempfile::tempdir().unwrap();
    let path = tree.path().join("plan.md");
    std::fs::write(&path, text).unwrap();
    let plan = PlanFile::at(tree.path(), &path).unwrap();
    (tree, plan)
}

fn validation(questions: &[String]) -> Validation<'_> {
    Validation {
        kind: ValidationKind::Plan,
        verdict: "needs_clarification",
        questions,
        by: "model-1",
        at: AT,
    }
}

#[test]
fn a_validated_draft_is_validating_and_then_approved() {
    let text = "# Feature: X\n\n## Status: draft | validating | approved\n\n## Steps\n1. [ ] One\n";
    let (_tree, plan) = plan(text);
    assert_eq!(plan.status().unwrap(), Some((Status::Draft, None)));
    let questions = ["Which\ndatabase?".to_owned()];
    plan.write_validation(&validation(&questions)).unwrap();
    assert_eq!(
        plan.text().unwrap().unwrap(),
        "# Feature: X\n\n## Status: validating (model-1, 2026-11-26T21:40:05Z)\n\n## Steps\n1. [ ] One\n\n## Validation\n\n\
         - Last validated: 2026-11-26T21:40:05Z by model-1\n- Verdict: needs_clarification\n- Open questions:\n  - Which database?\n"
    );
    assert!(plan.set_status(Status::Approved, "Ada", AT).unwrap());
    let note = "Ada, 2026-11-26T21:40:05Z".to_owned();
    assert_eq!(plan.status().unwrap(), Some((Status::Approved, Some(note))));
    plan.write_validation(&validation(&[])).unwrap();
    let (status, _) = plan.status().unwrap().unwrap();
    assert_eq!(status, Status::Approved, "only a draft changes");
    assert!(
        plan.text()
            .unwrap()
            .unwrap()
            .ends_with("- Open questions: none\n")
    );
}

#[test]
fn a_review_has_its_own_entries() {
    let (_tree, plan) = plan("# X\n");
    plan.write_validation(&validation(&[])).unwrap();
    let review = Validation {
        kind: ValidationKind::Implementation { step: Some(2) },
        verdict: "needs_work",
        ..validation(&[])
    };
    plan.write_validation(&review).unwrap();
    let text = plan.text().unwrap().unwrap();
    for line in [
        "- Verdict: needs_clarification",
        "- Last reviewed: 2026-11-26T21:40:05Z by model-1, step 2",
        "- Review verdict: needs_work",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} in {text}");
    }
}

#[test]
fn mode_and_links_inside_the_project_are_kept() {
    let (tree, file) = plan("# X\n");
    std::fs::set_permissions(file.path(), PermissionsExt::from_mode(0o640)).unwrap();
    let link = tree.path().join("link.md");
    symlink("plan.md", &link).unwrap();
    let plan = PlanFile::at(tree.path(), &link).unwrap();
    plan.set_status(Status::Approved, "A\n## B", AT).unwrap();
    assert!(link.is_symlink());
    let mode = std::fs::metadata(file.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let text = file.text().unwrap().unwrap();
    assert!(text.contains("approved (A ## B, "), "on one line: {text}");
}

#[test]
fn what_is_no_plan_is_refused() {
    let (tree, _) = plan("");
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("secret"), "x").unwrap();
    symlink(other.path().join("secret"), tree.path().join("link.md")).unwrap();
    let at = |name: &str| PlanFile::at(tree.path(), &tree.path().join(name));
    assert!(matches!(at("link.md"), Err(PlanError::Outside { .. })));
    std::fs::create_dir(tree.path().join("folder.md")).unwrap();
    assert!(matches!(at("folder.md"), Err(PlanError::WrongKind { .. })));
    std::fs::create_dir(tree.path().join(".git")).unwrap();
    std::fs::write(tree.path().join(".git/plan.md"), "x").unwrap();
    assert!(matches!(at(".git/plan.md"), Err(PlanError::WrongKind { .. })));
    std::fs::write(tree.path().join(".env"), "KEY=1\n").unwrap();
    symlink(".env", tree.path().join("keys.md")).unwrap();
    assert!(matches!(at("keys.md"), Err(PlanError::WrongKind { .. })));
    std::fs::write(tree.path().join("binary.md"), [0xff, 0xfe]).unwrap();
    let binary = at("binary.md").unwrap().text();
    assert!(matches!(binary, Err(PlanError::NotText { .. })));
    std::fs::write(tree.path().join("long.md"), vec![b'x'; 4 * 1024 * 1024 + 1]).unwrap();
    let long = at("long.md").unwrap().text();
    assert!(matches!(long, Err(PlanError::TooLong { .. })));
    let missing = at("none.md").unwrap().set_status(Status::Draft, "A", AT);
    assert!(matches!(missing, Err(PlanError::NoPlanText { .. })));
}

#[test]
fn a_write_protected_plan_is_not_replaced() {
    let (_tree, plan) = plan("# X\n");
    std::fs::set_permissions(plan.path(), PermissionsExt::from_mode(0o444)).unwrap();
    let set = plan.set_status(Status::Approved, "A", AT);
    assert!(matches!(set, Err(PlanError::Io { .. })));
    assert_eq!(plan.text().unwrap().as_deref(), Some("# X\n"));
}
