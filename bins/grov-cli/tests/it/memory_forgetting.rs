//! What `grov memory forget` says before it deletes, and what `grov memory list` says of a database that was set aside.

use crate::scene::{Scene, json};
use crate::stored::fill;
use grov_domain::{
    InboxItem, ItemStore, MemoryItem, MemoryScope, MemoryStatus, MemoryType, Redacted, TaskId,
    derived_item_id, local_project_id,
};
use serde_json::json as object;
use time::OffsetDateTime;

const KEY: &str = "literal-key";
const MEMORY: &str = "01890000-0000-7000-8000-0000000000aa";

fn scene_with_memory() -> Scene {
    let scene = Scene::new();
    let record = object!({"id": MEMORY, "goal": "check the limit", "created_at": "2026-01-02T03:04:05Z"});
    let path = scene.write("records.jsonl", &format!("{record}\n"));
    scene.ask(&["memory", "import", path.to_str().unwrap(), "--project", KEY]);
    scene
}

#[test]
fn a_preview_of_forgetting_names_the_proposals_of_the_memory() {
    let scene = scene_with_memory();
    let item = fill(&scene, async |store| {
        let scope = MemoryScope {
            project_path: KEY.to_owned(),
            project_remote: None,
        };
        let project_id = local_project_id(&scope);
        let content = "limits are counted in frames";
        let now = OffsetDateTime::UNIX_EPOCH;
        let item = MemoryItem {
            id: derived_item_id(project_id, MemoryType::Rule, content),
            project_id,
            kind: MemoryType::Rule,
            status: MemoryStatus::Proposed,
            content: content.to_owned(),
            evidence: Vec::new(),
            contradicts: Vec::new(),
            supersedes: None,
            superseded_by: None,
            expires_at: None,
            created_at: now,
            updated_at: now,
            decided_by: None,
            reason: None,
        };
        let id = item.id.to_string();
        let proposed = InboxItem {
            item,
            scope,
            task_id: Some(TaskId::new(MEMORY)),
        };
        store.propose_item(&Redacted::of(&proposed)).await.unwrap();
        id
    });
    let words = ["memory", "forget", MEMORY, "--project", KEY];
    let answer = scene.ask(&[&words[..], &["--dry-run"]].concat());
    assert_eq!(answer["would_forget"], object!([MEMORY, item]));
    let preview = scene.run(&[&words[..], &["--dry-run"]].concat()).stdout;
    assert!(
        preview.starts_with("would forget 1 memory and 1 proposal from it\n")
            && preview.contains("limits are counted in frames"),
        "{preview}"
    );
    let ended = scene.run(&[&words[..], &["--yes"]].concat());
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (0, "forgot 1 memory and 1 proposal from it\n")
    );
}

#[test]
fn forgetting_names_the_sessions_whose_transcripts_keep_what_a_hook_added() {
    let scene = scene_with_memory();
    scene.write("home/.grov/hooks/told/told-session", &format!("{MEMORY}\n"));
    let words = ["memory", "forget", MEMORY, "--project", KEY];
    let answer = json(&scene.run(&[&words[..], &["--dry-run", "--json"]].concat()));
    assert_eq!(answer["hook_sessions"], object!(["told-session"]));
    let ended = scene.run(&[&words[..], &["--yes"]].concat());
    assert!(
        ended.stderr.contains("told-session") && ended.stderr.contains("--resume"),
        "{ended:?}"
    );
    assert!(!ended.stderr.contains("no session has its text"), "{ended:?}");
}

#[test]
fn a_list_says_where_the_memories_of_a_damaged_database_are() {
    let scene = Scene::new();
    scene.write(
        "home/.grov/grov.db.corrupt-20260101T000000.000000Z",
        "no database",
    );
    let ended = scene.run(&["memory", "list"]);
    assert!(
        ended.code == 0
            && ended.stderr.contains("grov.db.corrupt-2026")
            && ended.stderr.contains("grov doctor"),
        "{ended:?}"
    );
}
