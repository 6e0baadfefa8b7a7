//! What holds for any course of events.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Happening {
    Prompt(&'static str),
    Edit(&'static str, &'static str),
    Run(&'static str),
    Fails(&'static str),
}

fn event_cases() -> impl Strategy<Value = Happening> {
    let files = || {
        prop::sample::select(vec![
            "src/auth/token.ts",
            "src/billing/a.ts",
            "web/theme.css",
            "README.md",
        ])
    };
    let texts = prop::sample::select(vec![
        "refreshToken(user)",
        "color: teal; border: 0",
        "total(lines) + tax(lines)",
    ]);
    let prompts = prop::sample::select(vec![
        GOAL,
        "go on",
        "also fix web/theme.css",
        "no, stop",
        "Translate README.md",
    ]);
    let commands = prop::sample::select(vec!["npm test", "rm -rf src", "git push --force", "cat a"]);
    prop_oneof![
        1 => prompts.prop_map(Happening::Prompt),
        4 => (files(), texts).prop_map(|(file, text)| Happening::Edit(file, text)),
        2 => commands.prop_map(Happening::Run),
        1 => files().prop_map(Happening::Fails),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn hooks_at_any_place_give_the_same_steps(
        happened in prop::collection::vec(event_cases(), 1..20),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut session = Session::new();
        for one in &happened {
            match one {
                Happening::Prompt(text) => session.line(json!({"type": "user", "message": {"content": text}})),
                Happening::Edit(file, text) => session.edit(file, text),
                Happening::Run(command) => session.run(command),
                Happening::Fails(file) => {
                    let id = session.call("Edit", json!({"file_path": format!("{ROOT}/{file}"), "new_string": "z"}));
                    session.result(&id, true);
                }
            }
        }
        let follow = |mut cuts: Vec<usize>| {
            cuts.push(session.transcript.len());
            cuts.sort_unstable();
            let mut stored = begun();
            let mut judged = Vec::new();
            for cut in cuts {
                let mut follower = resume(stored);
                let from = usize::try_from(follower.offset(cut as u64)).unwrap();
                follower.read(&session.transcript.as_bytes()[from.min(cut)..cut]);
                let progress = follower.into_progress(session.now);
                stored = progress.session;
                judged.extend(progress.steps.into_iter().map(|step| (step.id, step.score, step.findings, step.prompt)));
            }
            let mut last = resume(stored);
            let check = last.check(session.now);
            (judged, check)
        };
        let cuts = cuts.iter().map(|cut| cut.index(session.transcript.len())).collect();
        prop_assert_eq!(follow(Vec::new()), follow(cuts));
    }
}
