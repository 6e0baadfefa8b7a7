//! The test suite that any backend must pass: what the store ports promise, checked through the ports alone.
//!
//! A backend implements [`Backend`] in its tests and names itself in [`contract_tests!`](crate::contract_tests). Each
//! check gets an empty store of its own and panics where a promise is broken.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test suite fails by panicking"
)]

mod drift;
mod embeddings;
mod exchanges;
mod hooks;
mod keeping;
mod ledger;
mod lineages;
mod memory;
mod sample;
mod sessions;
mod spending;
mod switches;
mod tasks;
mod texts;
mod transitions;
mod watch;

pub use drift::*;
pub use embeddings::*;
pub use exchanges::*;
pub use hooks::*;
pub use keeping::*;
pub use ledger::*;
pub use lineages::*;
pub use memory::*;
pub use sample::exchange as sample_exchange;
pub use sessions::*;
pub use spending::*;
pub use switches::*;
pub use tasks::*;
pub use texts::*;
pub use transitions::*;
pub use watch::*;

use async_trait::async_trait;
use grov_domain::Store;
use std::sync::Arc;

/// Makes stores for the checks.
#[async_trait]
pub trait Backend: Sync {
    /// A new, empty store. It must live as long as the backend.
    async fn fresh(&self) -> Arc<dyn Store>;
}

/// Runs one check to its end.
pub fn run(check: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(check);
}

/// One test per check, against the backend that the expression makes.
#[macro_export]
macro_rules! contract_tests {
    ($backend:expr) => {
        $crate::contract_tests! { $backend =>
            append_is_idempotent
            append_tells_exchanges_of_two_sessions_apart
            append_counts_each_step_once
            append_keeps_counters
            context_size_is_that_of_the_newest_main_exchange
            absurd_token_counts_do_not_stop_recording
            concurrent_appends_lose_and_double_nothing
            first_prompt_becomes_the_goal
            unknown_project_is_filled_in_later
            sessions_are_listed_newest_first
            tasks_of_a_client_session_are_listed_oldest_first
            steps_come_in_order_of_time
            steps_are_found_by_path
            session_is_replaced_but_not_its_counters
            stale_session_takes_nothing_back
            task_comes_back_as_saved
            task_is_unique_per_session
            tasks_are_linked_to_the_one_they_served
            tasks_are_found_by_project_and_file
            project_status_counts
            drift_log_is_kept_in_order
            file_reasoning_is_found_by_path
            texts_survive
            times_keep_their_milliseconds
            secrets_are_redacted
            redaction_is_stable_and_keeps_lookups
            prune_removes_what_it_announced
            prune_keeps_tasks_and_drift_log
            prune_keeps_recent_spending
            prune_takes_what_moved_with_its_task
            stats_count_rows
            exchanges_move_with_all_they_hold
            transition_is_idempotent
            transition_waits_for_all_of_its_exchanges
            transition_passes_over_what_is_not_stored
            transition_needs_a_task_of_the_client_session
            exchange_that_moved_is_not_recorded_again
            exchanges_move_on_and_back
            step_of_an_earlier_exchange_stays_with_its_task
            late_exchange_is_counted_in_a_task_that_was_emptied
            transition_judged_before_a_memory_was_forgotten_is_refused
            prompts_come_in_order
            call_comes_back_as_settled
            calls_are_listed_oldest_first
            reservation_stays_within_the_budget
            repeated_reservation_changes_nothing
            absurd_costs_do_not_stop_the_ledger
            concurrent_reservations_stay_within_the_budget
            memory_finds_every_text_of_a_task
            memory_follows_a_replaced_task
            memory_keeps_projects_apart
            memory_reads_no_more_than_the_budget
            memory_is_searched_in_order
            memory_is_asked_as_of_a_moment
            memory_import_counts_another_task_of_a_session_as_replaced
            memory_import_is_idempotent
            memory_import_takes_nothing_from_another_project
            memory_forgets
            memories_are_found_by_a_part_of_their_id
            memory_is_replaced_but_not_in_a_circle
            memory_holds_no_secrets
            embeddings_come_back_as_kept
            another_model_embeds_anew
            embedding_goes_with_the_words
            embedding_is_forgotten_with_its_memory
            memories_come_in_the_order_asked
            pins_and_replacement_come_back_as_saved
            replaced_knowledge_is_marked_and_unmarked
            replacement_never_leads_back
            replacement_survives_saving_the_task_again
            ledger_comes_back_as_decided
            decision_is_kept_once
            decision_after_its_time_is_not_kept
            decision_for_an_unknown_lineage_is_not_kept
            withdrawn_decision_stays_withdrawn
            tips_make_lineages_known
            nothing_never_replaces_a_decision
            barred_lineage_stays_barred
            uses_tell_where_a_memory_stands
            uses_follow_a_task_saved_again
            forgotten_memory_leaves_the_ledger
            forgotten_memory_leaves_no_words
            forgotten_memory_leaves_no_correction_in_the_ledger
            lineages_that_start_alike_never_share
            deepest_tip_is_continued
            of_equal_tips_the_one_last_seen_is_continued
            of_equal_tips_the_one_with_the_latest_decision_is_continued
            lineage_that_stood_there_with_the_same_model_is_continued
            lineage_tells_where_it_stood_last
            adoption_takes_only_what_is_in_the_history
            adoption_stays_in_the_project
            adoption_leaves_a_known_lineage_as_it_is
            adoption_takes_over_that_edits_were_refused
            lineage_grows_apart_from_the_one_it_continues
            agents_of_a_session_are_lineages_of_their_own
            switches_are_kept
            switch_that_changes_nothing_is_no_news
            prune_takes_lineages_not_seen_for_long
            prune_takes_switches_of_sessions_long_gone
            step_off_goal_is_in_the_log_alone
            step_off_goal_is_recorded_once
            judged_step_keeps_its_verdict
            later_verdict_moves_a_step
            later_verdict_marks_a_saved_task
            later_verdict_takes_back_no_correction
            acquitted_action_is_a_step_again
            hard_finding_is_not_acquitted
            later_verdicts_find_steps_in_all_tasks
            log_moves_with_its_exchange
            correction_moves_with_its_exchange
            log_is_filtered
            judged_step_is_found_like_an_event
            related_steps_answer_four_questions
            related_steps_stay_within_their_limits
            related_steps_are_of_their_session
            related_steps_are_among_the_newest
            drift_state_comes_back_as_saved
            drift_state_is_replaced_by_a_newer_one
            drift_state_is_recorded_with_its_exchange
            task_shows_where_its_session_stands
            correction_is_replaced
            state_takes_back_nothing_of_its_correction
            goal_edits_come_in_order
            goal_edit_is_news_once
            secrets_of_the_watch_are_redacted
            forgotten_memory_leaves_the_watch
            forgotten_memory_leaves_the_limits_of_a_live_session
            forgotten_correction_does_not_come_back
            prune_takes_the_watch_after_its_sessions
            hook_session_comes_back_as_followed
            follow_keeps_nothing_behind_a_newer_state
            one_of_many_follows
            hook_steps_come_in_order_once
            hook_steps_end_later
            hook_checks_come_in_order
            hook_sessions_are_listed_newest_first
            a_prompt_is_kept_without_the_course
            guard_log_tells_what_ran
            texts_of_hooks_survive
            secrets_of_hooks_are_redacted
            forgotten_memory_leaves_the_hooks
            prune_takes_sessions_of_hooks
        }
    };
    ($backend:expr => $($check:ident)+) => {
        $(
            #[test]
            fn $check() {
                $crate::contract::run(async {
                    let backend = $backend;
                    let store = $crate::contract::Backend::fresh(&backend).await;
                    $crate::contract::$check(store).await;
                });
            }
        )+
    };
}
