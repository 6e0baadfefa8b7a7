//! What a session is held to: what the user typed, what the task in work is, and what a person changed of it.

use grov_domain::{GoalContract, GoalEdit, Intent, IntentQuestion, both_ends, words};
use grov_redact::Redactor;
use std::collections::HashSet;
use std::sync::Arc;

/// Tells what prompts ask for, by rules.
pub type IntentReader = Arc<dyn Fn(&IntentQuestion) -> Intent + Send + Sync>;

/// Prompts that are kept, the newest.
const MOST_INSTRUCTIONS: usize = 20;
/// Bytes kept of each end of a long prompt: of a pasted log the beginning and the end say what is wanted.
const MOST_OF_AN_END: usize = 8 * 1024;
/// Entries of scope and of constraints.
const MOST_ENTRIES: usize = 80;
/// A prompt with so many words that are new to the work, and none that is not, turns to something else.
const WORDS_OF_A_TURN: usize = 2;
/// Words of a text that are compared.
const MOST_WORDS: usize = 400;

/// The task in work, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskGoal {
    /// What the user wants.
    pub goal: String,
    /// Paths and identifiers the goal names.
    pub scope: Vec<String>,
    /// What the user forbade or demanded.
    pub constraints: Vec<String>,
    /// Words for search.
    pub keywords: Vec<String>,
}

/// Builds the contract of one session.
#[derive(Clone)]
pub struct Agreement {
    read: IntentReader,
    /// Prompts that say something, oldest first.
    instructions: Vec<String>,
    /// Of these, so many are of the turn under way: no verdict says yet which task they belong to.
    fresh: usize,
    /// Of these, so many no reading of the store has shown yet, though they are of this task or of the turn under way.
    unread: usize,
    /// Prompts that stand in the history from before anything of it was seen: no store has them.
    inherited: Vec<String>,
    /// What the conversation is about is known from its beginning on.
    is_whole: bool,
    /// The contract was given, and nothing that is typed or changed makes it another one.
    is_given: bool,
    /// Counts changes.
    version: u64,
    /// What all of them ask for.
    intent: Intent,
    task: TaskGoal,
    edits: Vec<GoalEdit>,
    /// Without what a person changed.
    typed: GoalContract,
    contract: GoalContract,
}

impl Agreement {
    /// An agreement of which nothing is known yet.
    pub fn new(read: IntentReader) -> Self {
        Self {
            read,
            instructions: Vec::new(),
            fresh: 0,
            unread: 0,
            inherited: Vec::new(),
            is_whole: false,
            is_given: false,
            version: 0,
            intent: Intent::default(),
            task: TaskGoal::default(),
            edits: Vec::new(),
            typed: GoalContract::default(),
            contract: GoalContract::default(),
        }
    }

    /// An agreement on this contract, which does not change any more.
    pub fn on(contract: GoalContract) -> Self {
        Self {
            instructions: contract.instructions.clone(),
            is_whole: true,
            is_given: true,
            typed: contract.clone(),
            contract,
            ..Self::new(Arc::new(|_| Intent::default()))
        }
    }

    /// What the agent is held to, with what a person changed of it.
    pub fn contract(&self) -> &GoalContract {
        &self.contract
    }

    /// The same, without what a person changed of it.
    pub fn typed(&self) -> &GoalContract {
        &self.typed
    }

    /// The user typed something. Whether it says something of its own, and is no mere "yes".
    pub fn prompted(&mut self, prompt: &str) -> bool {
        if self.is_given {
            return false;
        }
        let prompt = kept_of(prompt);
        let (says_something, intent) = self.read_with(&prompt);
        if says_something {
            self.instructions.push(prompt);
            self.fresh += 1;
            self.unread += 1;
            self.intent = intent;
            self.forget_oldest();
            self.build();
        }
        says_something
    }

    /// Takes up what was typed before. The contract is built with the next prompt that says something.
    pub fn take_up(&mut self, instructions: Vec<String>) {
        self.instructions = instructions;
        self.read_all();
    }

    /// A conversation begins: what was asked before belongs to another one.
    pub fn begin(&mut self) {
        self.instructions.clear();
        self.fresh = 0;
        self.unread = 0;
        self.inherited.clear();
        self.is_whole = true;
        self.task = TaskGoal::default();
        self.read_all();
        self.build();
    }

    /// A conversation begins of which nothing was seen before.
    pub fn is_new(&mut self) {
        self.is_whole = true;
    }

    /// Whether what the conversation is about is known from its beginning on.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// How often it was changed.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The conversation came to rest.
    pub fn turn_ended(&mut self) {
        self.fresh = 0;
        self.version += 1;
    }

    /// Another task is in work: what was typed for the last one is none of its.
    pub fn turned_to_another_task(&mut self) {
        self.version += 1;
        self.unread = self.fresh;
        self.inherited.clear();
    }

    /// What was typed in this history before anything of it was seen.
    pub fn continues(&mut self, prompts: &[String]) {
        self.inherited = instructions(&self.read, prompts);
        if self.inherited.is_empty() {
            return;
        }
        self.is_whole = true;
        let inherited = self.inherited.iter();
        let mut all: Vec<String> = inherited
            .filter(|prompt| !self.instructions.contains(prompt))
            .cloned()
            .collect();
        all.append(&mut self.instructions);
        self.instructions = all;
        self.forget_oldest();
        self.read_all();
        self.build();
    }

    /// What is stored of the session before anything of it was seen. Returns the agreement as it stood before what was typed
    /// since: that can be typed into it again, so that what was done meanwhile is judged by what was asked for then.
    pub fn resume(&mut self, task: TaskGoal, recorded: Vec<String>) -> Self {
        let since = self.fresh.max(self.unread);
        let known = self.instructions.len().saturating_sub(since);
        let is_older = |prompt: &String| !self.instructions[known..].contains(prompt);
        if recorded.iter().any(is_older) || !task.goal.trim().is_empty() {
            // The store knows what was before, and which of it is of this task.
            self.is_whole = true;
            self.inherited.clear();
            self.instructions.drain(..known);
        }
        self.work_on(task, recorded);
        let since = self
            .instructions
            .split_off(self.instructions.len().saturating_sub(since));
        let mut before = self.clone();
        if since.is_empty() {
            return before;
        }
        (before.fresh, before.unread) = (0, 0);
        before.read_all();
        before.build();
        self.type_again(since);
        before
    }

    /// Prompts that were kept when nothing was known before them: a "yes" among them says something no more.
    fn type_again(&mut self, since: Vec<String>) {
        let known: Vec<String> = self.instructions.iter().chain(&since).cloned().collect();
        let saying = instructions(&self.read, &known);
        let (fresh, unread) = (self.fresh, self.unread);
        (self.fresh, self.unread) = (0, 0);
        let count = since.len();
        for (place, prompt) in since.into_iter().enumerate() {
            if saying.contains(&prompt) {
                self.fresh += usize::from(count - place <= fresh);
                self.unread += usize::from(count - place <= unread);
                self.instructions.push(prompt);
            }
        }
        self.read_all();
        self.build();
    }

    /// The task in work, with its [`instructions`] as far as they were recorded.
    pub fn work_on(&mut self, task: TaskGoal, recorded: Vec<String>) {
        self.is_whole |= !task.goal.trim().is_empty();
        self.task = task;
        if recorded.is_empty() {
            // Not recorded yet, or the records are gone: what is in memory stands.
            self.build();
            return;
        }
        let kept = self.fresh.max(self.unread);
        let kept = self
            .instructions
            .split_off(self.instructions.len().saturating_sub(kept));
        // What the store shows as the newest it shows for good; what it lacks is on its way.
        self.unread = kept
            .iter()
            .rposition(|prompt| recorded.contains(prompt))
            .map_or(kept.len(), |place| kept.len() - place - 1);
        let before = if self.inherited.is_empty() {
            recorded
        } else {
            // Behind what is inherited a "continue" says nothing.
            let all: Vec<String> = self.inherited.iter().cloned().chain(recorded).collect();
            instructions(&self.read, &all)
        };
        let before = before.into_iter().filter(|prompt| !kept.contains(prompt));
        self.instructions = before.chain(kept.iter().cloned()).collect();
        self.forget_oldest();
        self.read_all();
        self.build();
    }

    /// What a person changed.
    pub fn edited(&mut self, edits: Vec<GoalEdit>) {
        if edits != self.edits {
            self.edits = edits;
            self.build();
        }
    }

    fn read_with(&self, prompt: &str) -> (bool, Intent) {
        let mut prompts = self.instructions.clone();
        prompts.push(prompt.to_owned());
        let intent = self.intent_of(prompts);
        let says_something = !prompt.trim().is_empty()
            && (self.instructions.is_empty() && self.task.goal.is_empty() || is_more(&self.intent, &intent));
        (says_something, intent)
    }

    fn intent_of(&self, prompts: Vec<String>) -> Intent {
        (self.read)(&IntentQuestion {
            prompts,
            first_files: Vec::new(),
        })
    }

    fn read_all(&mut self) {
        self.intent = self.intent_of(self.instructions.clone());
    }

    fn forget_oldest(&mut self) {
        let surplus = self.instructions.len().saturating_sub(MOST_INSTRUCTIONS);
        self.instructions.drain(..surplus);
        self.fresh = self.fresh.min(self.instructions.len());
        self.unread = self.unread.min(self.instructions.len());
    }

    fn build(&mut self) {
        if self.is_given {
            return;
        }
        self.version += 1;
        let newest = self.instructions.last().cloned();
        let newest = newest
            .map(|prompt| self.intent_of(vec![prompt]))
            .unwrap_or_default();
        let base = if self.task.goal.trim().is_empty() {
            self.goal_before_newest()
        } else {
            self.task.goal.clone()
        };
        let goal = if base.is_empty() || self.turns(&newest, &base) {
            [&newest.goal, &self.intent.goal, &base]
                .into_iter()
                .find(|goal| !goal.is_empty())
                .cloned()
                .unwrap_or_default()
        } else {
            base
        };
        let contract = GoalContract {
            goal,
            instructions: self.instructions.clone(),
            scope: joined([&newest.scope, &self.intent.scope, &self.task.scope]),
            allowed: Vec::new(),
            forbidden: Vec::new(),
            constraints: joined([
                &newest.constraints,
                &self.intent.constraints,
                &self.task.constraints,
            ]),
            keywords: joined([&newest.keywords, &self.intent.keywords, &self.task.keywords]),
        };
        self.contract = contract.clone().with_edits(&self.edits);
        self.typed = contract;
    }

    /// The goal of the instructions before the newest: that of the first, or of the last one that turned elsewhere.
    fn goal_before_newest(&self) -> String {
        let mut goal = String::new();
        let mut since: Vec<&str> = Vec::new();
        let before = self.instructions.len().saturating_sub(1).max(1);
        for prompt in self.instructions.iter().take(before) {
            let intent = self.intent_of(vec![prompt.clone()]);
            if !intent.goal.is_empty() && (goal.is_empty() || turns(&intent, &goal, since.iter().copied())) {
                goal = intent.goal;
                since.clear();
            }
            since.push(prompt);
        }
        goal
    }

    /// Whether the newest prompt turns to something that has nothing in common with what was wanted so far.
    fn turns(&self, newest: &Intent, base: &str) -> bool {
        let before = self
            .instructions
            .split_last()
            .map_or(&[][..], |(_, before)| before);
        let task = self.task.scope.iter().chain(&self.task.keywords);
        turns(newest, base, before.iter().chain(task).map(String::as_str))
    }
}

/// Whether a prompt has nothing in common with a goal and what was said for it.
fn turns<'a>(newest: &Intent, base: &'a str, said: impl Iterator<Item = &'a str>) -> bool {
    let telling: HashSet<String> = newest
        .keywords
        .iter()
        .chain(&newest.scope)
        .flat_map(|text| words(text, MOST_WORDS))
        .collect();
    if newest.goal.is_empty() || telling.len() < WORDS_OF_A_TURN {
        return false;
    }
    let mut known = std::iter::once(base)
        .chain(said)
        .flat_map(|text| words(text, MOST_WORDS));
    !known.any(|word| telling.contains(&word))
}

/// Of prompts, oldest first, those that say something, as they are kept in a contract.
pub fn instructions(read: &IntentReader, prompts: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut before = Intent::default();
    let surplus = prompts.len().saturating_sub(MOST_INSTRUCTIONS);
    for prompt in prompts.iter().skip(surplus).map(|prompt| kept_of(prompt)) {
        if prompt.trim().is_empty() || kept.contains(&prompt) {
            continue;
        }
        kept.push(prompt);
        let after = read(&IntentQuestion {
            prompts: kept.clone(),
            first_files: Vec::new(),
        });
        if kept.len() > 1 && !is_more(&before, &after) {
            kept.pop();
        } else {
            before = after;
        }
    }
    kept
}

/// Whether an intent says something that the other one does not.
fn is_more(before: &Intent, after: &Intent) -> bool {
    after.goal != before.goal || after.scope != before.scope || after.constraints != before.constraints
}

fn joined<const N: usize>(lists: [&Vec<String>; N]) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for entry in lists.into_iter().flatten() {
        if joined.len() >= MOST_ENTRIES {
            break;
        }
        if !joined.contains(entry) {
            joined.push(entry.clone());
        }
    }
    joined
}

/// A prompt without secrets and private parts, of a long one both ends. Cut after that: half a secret is none to the
/// redactor.
pub fn kept_of(prompt: &str) -> String {
    let prompt = Redactor::shared().redact(prompt);
    both_ends(&prompt, MOST_OF_AN_END, "\n[…]\n").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read_intent;
    use grov_domain::{ClientSessionId, GoalEditId, GoalEditKind};
    use time::OffsetDateTime;

    fn agreement() -> Agreement {
        Agreement::new(Arc::new(read_intent))
    }

    #[test]
    fn the_first_prompt_is_the_goal_and_assent_changes_nothing() {
        let mut agreement = agreement();
        let first = "Fix the token refresh in src/auth/token.ts";
        assert!(agreement.prompted(first));
        let before = agreement.contract().clone();
        assert_eq!(before.goal, first);
        assert_eq!(before.scope, ["src/auth/token.ts"]);
        for assent in ["yes", "continue", "ok"] {
            assert!(!agreement.prompted(assent));
        }
        assert_eq!(*agreement.contract(), before);
    }

    #[test]
    fn a_follow_up_keeps_the_goal_and_opens_its_files() {
        let mut agreement = agreement();
        agreement.prompted("Fix the token refresh in src/auth/token.ts");
        agreement.prompted("also cover the token with a test in tests/token.ts");
        let contract = agreement.contract();
        assert!(contract.goal.starts_with("Fix the token"));
        assert_eq!(contract.scope, ["tests/token.ts", "src/auth/token.ts"]);
        assert!(contract.newest_instruction().starts_with("also cover"));
    }

    #[test]
    fn a_prompt_that_turns_elsewhere_is_the_goal_at_once() {
        let mut agreement = agreement();
        agreement.prompted("Fix the token refresh in src/auth/token.ts");
        agreement.prompted("Translate README.md into French");
        assert_eq!(agreement.contract().goal, "Translate README.md into French");
    }

    #[test]
    fn what_follows_a_turn_is_not_held_to_the_goal_before_it() {
        let mut agreement = agreement();
        agreement.prompted("Fix the token refresh in src/auth/token.ts");
        agreement.prompted("Translate README.md into French");
        agreement.prompted("and keep the French headings in README.md short");
        assert_eq!(agreement.contract().goal, "Translate README.md into French");
    }

    #[test]
    fn the_task_in_work_gives_the_goal_but_not_over_what_was_just_typed() {
        let mut agreement = agreement();
        agreement.prompted("Fix the token refresh in src/auth/token.ts");
        agreement.turn_ended();
        let task = TaskGoal {
            goal: "Make the token refresh robust".to_owned(),
            constraints: vec!["no new dependencies".to_owned()],
            ..TaskGoal::default()
        };
        let recorded = [
            "Fix the token refresh in src/auth/token.ts".to_owned(),
            "yes".to_owned(),
        ];
        let recorded = instructions(&agreement.read, &recorded);
        agreement.work_on(task.clone(), recorded.clone());
        assert_eq!(agreement.contract().goal, "Make the token refresh robust");
        assert_eq!(agreement.contract().constraints, ["no new dependencies"]);
        assert_eq!(agreement.contract().instructions.len(), 1);

        agreement.prompted("Translate README.md into French");
        agreement.work_on(task, recorded);
        assert_eq!(agreement.contract().goal, "Translate README.md into French");
        assert_eq!(agreement.contract().instructions.len(), 2);
    }

    #[test]
    fn a_prompt_that_the_store_does_not_show_yet_is_kept_though_its_turn_is_over() {
        let mut agreement = agreement();
        let (first, second) = ("Fix src/auth/token.ts", "Also edit tests/auth.rs");
        agreement.prompted(first);
        agreement.turn_ended();
        agreement.prompted(second);
        agreement.turn_ended();
        // Asked for when the second one was not recorded yet.
        agreement.work_on(TaskGoal::default(), vec![first.to_owned()]);
        assert_eq!(agreement.contract().instructions, [first, second]);
        agreement.work_on(TaskGoal::default(), vec![first.to_owned(), second.to_owned()]);
        assert_eq!(agreement.contract().instructions, [first, second]);
        // It was shown, so what the store says from now on counts.
        agreement.work_on(TaskGoal::default(), vec![first.to_owned()]);
        assert_eq!(agreement.contract().instructions, [first]);
    }

    #[test]
    fn what_a_fork_inherits_stays_though_no_store_has_it() {
        let mut agreement = agreement();
        agreement.continues(&["Fix src/auth/token.ts".to_owned(), "yes".to_owned()]);
        assert!(agreement.is_whole());
        assert!(!agreement.prompted("continue"));
        agreement.prompted("Also edit tests/auth.rs");
        agreement.turn_ended();
        agreement.work_on(TaskGoal::default(), vec!["Also edit tests/auth.rs".to_owned()]);
        let both = ["Fix src/auth/token.ts", "Also edit tests/auth.rs"];
        assert_eq!(agreement.contract().instructions, both);
        assert_eq!(agreement.contract().goal, both[0]);
    }

    #[test]
    fn what_a_history_says_gives_way_to_what_is_stored_of_its_tasks() {
        let mut agreement = agreement();
        let earlier = ["Fix src/auth/token.ts", "Translate README.md into French"];
        agreement.continues(&earlier.map(str::to_owned));
        agreement.prompted("Also edit CHANGELOG.md");
        let task = TaskGoal {
            goal: "Translate the readme".to_owned(),
            ..TaskGoal::default()
        };
        // The first one was of a task that is done.
        agreement.resume(task, vec![earlier[1].to_owned()]);
        let instructions = [earlier[1], "Also edit CHANGELOG.md"];
        assert_eq!(agreement.contract().instructions, instructions);
    }

    #[test]
    fn what_began_before_it_was_seen_is_not_known_from_the_beginning() {
        let mut agreement = agreement();
        agreement.prompted("go ahead");
        agreement.resume(TaskGoal::default(), vec!["go ahead".to_owned()]);
        assert!(!agreement.is_whole());
        agreement.resume(
            TaskGoal::default(),
            vec!["Fix it".to_owned(), "go ahead".to_owned()],
        );
        assert!(agreement.is_whole());
    }

    #[test]
    fn what_was_typed_since_can_be_typed_again_into_what_was_asked_for_before() {
        let mut agreement = agreement();
        let (first, second) = ("Fix src/auth/token.ts", "Translate README.md into French");
        // Nothing is known before it, so it might say something.
        assert!(agreement.prompted("continue"));
        agreement.prompted(second);
        let recorded = || vec![first.to_owned(), second.to_owned()];
        let mut before = agreement.resume(TaskGoal::default(), recorded());
        assert_eq!(before.contract().instructions, [first]);
        assert_eq!(before.contract().goal, first);
        assert_eq!(agreement.contract().instructions, [first, second]);
        for prompt in ["continue", second] {
            before.prompted(prompt);
        }
        assert_eq!(before.contract(), agreement.contract());
        // The turn is over, and another task is in work: neither is any of its.
        agreement.turn_ended();
        agreement.turned_to_another_task();
        agreement.work_on(TaskGoal::default(), vec!["Write CHANGELOG.md".to_owned()]);
        assert_eq!(agreement.contract().instructions, ["Write CHANGELOG.md"]);
    }

    #[test]
    fn another_task_leaves_what_was_typed_for_the_last_one() {
        let mut agreement = agreement();
        agreement.prompted("Fix the token refresh in src/auth/token.ts");
        agreement.turn_ended();
        agreement.turned_to_another_task();
        let task = TaskGoal {
            goal: "Translate the readme".to_owned(),
            ..TaskGoal::default()
        };
        agreement.work_on(task, vec!["Translate README.md into French".to_owned()]);
        let contract = agreement.contract();
        assert_eq!(contract.goal, "Translate the readme");
        assert_eq!(contract.instructions, ["Translate README.md into French"]);
        assert_eq!(contract.scope, ["README.md"]);
    }

    #[test]
    fn what_a_person_changed_stands_on_top() {
        let mut agreement = agreement();
        agreement.prompted("Fix the token refresh in src/auth/token.ts");
        agreement.edited(vec![GoalEdit {
            id: GoalEditId::fresh(),
            client_session_id: ClientSessionId::new("s"),
            kind: GoalEditKind::Set,
            text: "Something else".to_owned(),
            at: OffsetDateTime::UNIX_EPOCH,
        }]);
        assert_eq!(agreement.contract().goal, "Something else");
        agreement.prompted("Translate README.md into French");
        assert_eq!(agreement.contract().goal, "Something else");
        agreement.begin();
        assert_eq!(agreement.contract().goal, "Something else");
        assert!(agreement.contract().instructions.is_empty());
    }

    #[test]
    fn private_words_are_not_kept_and_long_prompts_are_cut() {
        let mut agreement = agreement();
        agreement.prompted(&format!(
            "Fix a.rs <private>{}</private> {}",
            "zebra ".repeat(5000),
            "x ".repeat(40_000)
        ));
        let [kept] = &agreement.contract().instructions[..] else {
            panic!("one instruction");
        };
        assert!(!kept.contains("zebra") && kept.len() < 3 * MOST_OF_AN_END);
        assert!(!agreement.prompted(""));
    }
}
