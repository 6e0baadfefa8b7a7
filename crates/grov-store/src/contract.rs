//! The test suite that every backend must pass. It checks the guarantees of the store ports through the ports only.
//!
//! A backend implements [`Backend`] in its tests and calls [`contract_tests!`](crate::contract_tests). Each check gets
//! an empty store and panics if a guarantee is violated.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test suite fails by panicking"
)]

mod activity;
mod context;
mod cuts;
mod drift;
mod drift_states;
mod embeddings;
mod exchanges;
mod hooks;
mod items;
mod journal;
mod judging;
mod ledger;
mod lineages;
mod links;
mod memory;
mod retention;
mod routed_usage;
mod sample;
mod sessions;
mod spending;
mod switches;
mod tasks;
mod texts;
mod transitions;

pub use activity::*;
pub use context::*;
pub use cuts::*;
pub use drift::*;
pub use drift_states::*;
pub use embeddings::*;
pub use exchanges::*;
pub use hooks::*;
pub use items::*;
pub use journal::*;
pub use judging::*;
pub use ledger::*;
pub use lineages::*;
pub use links::*;
pub use memory::*;
pub use retention::*;
pub use routed_usage::*;
pub use sample::{empty_task, exchange as sample_exchange};
pub use sessions::*;
pub use spending::*;
pub use switches::*;
pub use tasks::*;
pub use texts::*;
pub use transitions::*;

use async_trait::async_trait;
use grov_domain::Store;
use std::sync::Arc;

/// Creates stores for the checks.
#[async_trait]
pub trait Backend: Sync {
    /// Creates an empty store. It must live as long as the backend.
    async fn fresh(&self) -> Arc<dyn Store>;
}

/// Runs one check.
pub fn run(check: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
        .block_on(check);
}

/// Creates one test per check, with the backend returned by the expression.
#[macro_export]
macro_rules! contract_tests {
    ($backend:expr) => {
        $crate::contract_tests! { $backend =>
            append_is_idempotent
            append_distinguishes_exchanges_of_two_sessions
            append_counts_each_step_once
            append_keeps_counters
            context_size_is_that_of_the_newest_main_exchange
            huge_token_counts_do_not_overflow
            concurrent_appends_lose_and_duplicate_nothing
            first_prompt_becomes_the_goal
            unknown_project_is_filled_in_later
            sessions_are_listed_newest_first
            tasks_of_a_client_session_are_listed_oldest_first
            steps_come_in_order_of_time
            steps_are_found_by_path
            saving_a_session_keeps_its_counters
            saving_a_stale_session_reverts_nothing
            task_is_loaded_as_saved
            task_is_unique_per_session
            an_edited_task_keeps_its_edits
            tasks_are_linked_to_their_parent
            tasks_are_found_by_project_and_file
            project_status_counts
            drift_log_is_kept_in_order
            file_reasoning_is_found_by_path
            texts_survive
            times_keep_their_milliseconds
            secrets_are_redacted
            redaction_is_stable_and_keeps_lookups
            prune_removes_the_rows_counted_by_a_dry_run
            prune_keeps_tasks_and_drift_log
            routed_usage_adds_up_by_day_and_model
            newest_context_of_a_session_is_kept
            compactions_are_listed_newest_first
            prune_keeps_recent_spending
            prune_removes_moved_rows_with_their_task
            stats_count_rows
            exchanges_move_with_all_their_rows
            transition_is_idempotent
            transition_waits_for_all_of_its_exchanges
            transition_skips_exchanges_that_are_not_stored
            transition_needs_a_task_of_the_client_session
            exchange_that_moved_is_not_recorded_again
            exchanges_move_on_and_back
            step_of_an_earlier_exchange_stays_with_its_task
            late_exchange_is_counted_in_an_emptied_task
            transition_judged_before_a_memory_was_forgotten_is_refused
            prompts_come_in_order
            call_is_loaded_as_settled
            calls_are_listed_oldest_first
            reservation_stays_within_the_budget
            tools_have_a_budget_of_their_own
            repeated_reservation_changes_nothing
            huge_costs_do_not_overflow_the_ledger
            concurrent_reservations_stay_within_the_budget
            memory_search_finds_every_text_of_a_task
            memory_follows_a_replaced_task
            memory_keeps_projects_apart
            memory_reads_no_more_than_the_budget
            terms_are_found_by_their_beginning
            memory_is_searched_in_order
            memory_is_searched_as_of_a_time
            memory_import_counts_another_task_of_a_session_as_replaced
            memory_import_is_idempotent
            memory_import_never_changes_another_project
            memories_are_screened_again_once
            a_model_judges_each_text_once
            imported_and_newest_memories_are_judged_first
            an_unanswered_memory_comes_alone_and_later
            a_verdict_on_a_text_that_changed_is_refused
            a_trusted_text_is_trusted_until_it_changes
            forgetting_a_memory_erases_what_a_model_found
            memory_forgets
            memories_are_found_by_a_part_of_their_id
            memory_is_superseded_but_not_in_a_cycle
            memory_holds_no_secrets
            embeddings_are_loaded_as_saved
            another_model_embeds_all_memories
            embedding_is_deleted_when_the_text_changes
            embedding_is_forgotten_with_its_memory
            memories_are_returned_in_the_requested_order
            pins_and_replacement_are_loaded_as_saved
            replaced_knowledge_is_marked_and_unmarked
            replacement_chain_has_no_cycle
            replacement_survives_saving_the_task_again
            ledger_is_loaded_as_decided
            decision_is_stored_once
            decision_after_its_deadline_is_not_stored
            decision_for_an_unknown_lineage_is_not_stored
            withdrawn_decision_stays_withdrawn
            tips_make_lineages_known
            empty_decision_never_replaces_a_decision
            disabled_edits_stay_disabled
            uses_list_the_lineages_that_quote_a_memory
            uses_follow_a_task_saved_again
            forgetting_a_memory_removes_it_from_the_ledger
            forgetting_a_memory_erases_its_texts
            forgetting_a_memory_removes_corrections_from_the_ledger
            cuts_are_loaded_as_saved
            applied_cuts_are_shown
            trims_are_saved_together
            adoption_copies_cuts_in_the_history
            prune_removes_cuts
            forgetting_a_memory_blanks_the_summaries_of_its_session
            lineages_with_the_same_start_are_separate
            deepest_tip_is_continued
            the_last_seen_of_equal_tips_is_continued
            the_tip_with_the_latest_decision_is_continued
            lineage_with_the_same_model_is_continued
            lineage_returns_its_last_tip
            adoption_copies_only_decisions_in_the_history
            adoption_stays_in_the_project
            adoption_leaves_a_known_lineage_as_it_is
            adoption_copies_disabled_edits
            lineage_diverges_from_the_one_it_continues
            agents_of_a_session_are_lineages_of_their_own
            switches_are_stored
            unchanged_switch_does_not_bump_the_revision
            prune_removes_old_lineages
            prune_removes_switches_of_removed_sessions
            step_off_goal_is_only_in_the_log
            step_off_goal_is_recorded_once
            judged_step_keeps_its_verdict
            later_verdict_moves_a_step
            later_verdict_marks_a_saved_task
            later_verdict_keeps_the_correction
            allowed_action_moves_back_to_the_steps
            hard_finding_is_not_withdrawn
            later_verdicts_find_steps_in_all_tasks
            drift_log_moves_with_its_exchange
            correction_moves_with_its_exchange
            log_is_filtered
            judged_step_is_found_like_an_event
            related_steps_match_four_criteria
            related_steps_stay_within_their_limits
            related_steps_are_of_their_session
            related_steps_are_among_the_newest
            drift_state_is_loaded_as_saved
            drift_state_is_replaced_by_a_newer_one
            drift_state_is_recorded_with_its_exchange
            task_shows_the_drift_state_of_its_session
            correction_is_replaced
            saving_a_state_only_adds_the_outcome_of_its_correction
            goal_edits_come_in_order
            repeated_goal_edit_does_not_bump_the_revision
            secrets_in_drift_records_are_redacted
            forgetting_a_memory_erases_its_drift_records
            forgetting_a_memory_keeps_the_limits_of_an_active_session
            forgotten_correction_is_not_restored
            prune_removes_drift_records_after_their_sessions
            hook_session_is_loaded_as_saved
            progress_is_refused_after_a_newer_revision
            one_of_many_concurrent_writers_succeeds
            hook_steps_come_in_order_once
            hook_steps_end_later
            hook_checks_come_in_order
            hook_sessions_are_listed_newest_first
            a_prompt_is_saved_without_the_engine_state
            guard_log_marks_calls_that_ran
            texts_of_hooks_survive
            secrets_in_hook_records_are_redacted
            forgetting_a_memory_erases_hook_records
            prune_removes_hook_sessions
            known_sessions_are_those_of_both_paths
            a_journal_is_read_page_by_page
            newest_sessions_are_listed_first
            a_drop_of_the_prompt_cache_is_found
            findings_are_marked_and_unmarked
            limits_of_a_session_are_replaced
            activity_is_that_of_the_newest_main_exchange
            prune_removes_session_ends
            usage_is_summed_up
            failures_mark_earlier_actions
            failures_mark_actions_off_the_goal
            changes_are_returned_since_a_cursor
            an_item_is_a_memory_while_it_is_accepted
            a_rejected_item_is_not_proposed_again
            a_task_that_is_saved_again_replaces_what_it_proposed
            an_item_with_an_end_is_found_until_then
            waiting_proposals_are_mentioned_once_a_day
            a_link_is_loaded_as_saved
            what_others_do_not_have_waits_to_be_sent
            a_change_while_a_record_is_sent_is_sent_too
            what_a_teammate_accepted_is_a_memory_and_not_sent_back
            what_a_teammate_deletes_is_deleted_unless_it_is_our_own
            an_item_changed_on_both_sides_is_kept_until_it_is_settled
            nothing_arrives_over_a_link_that_was_removed_or_started_again
            a_link_is_about_its_project_alone
            a_link_does_not_change_when_an_item_was_decided
            a_record_of_a_clock_that_is_ahead_is_found
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
