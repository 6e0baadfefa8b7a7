//! The test suite that every database must pass. It checks the guarantees of the ports through the ports only.
//!
//! A test program names a function that runs a check with an empty store, and calls
//! [`contract_tests!`](crate::contract_tests) with it. A check panics if a guarantee is violated.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test suite fails by panicking, and says what it skips"
)]

mod documents;
mod embeddings;
pub mod load;
mod memory;
mod outbox;
pub mod postgres;
mod projects;
pub mod sample;
mod search;
mod sharing;
mod threads;
mod tool_calls;

pub use documents::*;
pub use embeddings::*;
pub use memory::*;
pub use outbox::*;
pub use projects::*;
pub use search::*;
pub use sharing::*;
pub use threads::*;
pub use tool_calls::*;

use grov_agent::AgentStore;
use std::pin::Pin;
use std::sync::Arc;

/// An empty store.
pub type Store = Arc<dyn AgentStore>;

/// A check that was started with a store.
pub type Check = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Creates one test per check. The function takes a closure from a [`Store`] to a [`Check`] and runs it.
///
/// With `all in FUNCTION`, calls the function with the name and the closure of each check instead.
#[macro_export]
macro_rules! contract_tests {
    (all in $run:path) => {
        $crate::contract_tests! { @checks call $run }
    };
    ($run:path) => {
        $crate::contract_tests! { @checks test $run }
    };
    (@checks $use:ident $run:path) => {
        $crate::contract_tests! { @$use $run =>
            a_project_is_stored_changed_and_deleted
            a_change_keeps_its_answer_in_its_own_transaction
            an_upload_keeps_its_answer_in_its_own_transaction
            pages_show_each_project_once
            projects_can_be_limited_to_those_of_a_key
            a_cursor_of_something_else_is_refused
            keys_are_unique_by_name_until_they_are_revoked
            a_document_and_its_chunks_are_stored
            a_new_version_keeps_unchanged_chunks_and_their_embeddings
            equal_chunks_are_kept_one_by_one
            the_same_content_is_not_written_again
            another_category_is_a_new_version
            concurrent_uploads_of_a_title_are_consecutive_versions
            documents_of_another_project_are_not_found
            chunks_are_listed_in_order
            a_deleted_document_is_not_found_by_anything
            a_document_of_a_missing_project_is_refused
            a_long_title_is_refused
            a_turn_is_stored_completely
            a_turn_that_fails_leaves_nothing
            an_idempotency_key_stores_one_turn
            concurrent_turns_with_one_idempotency_key_store_one
            concurrent_turns_of_a_thread_do_not_mix
            a_turn_needs_its_thread_in_its_project
            history_starts_behind_the_summary
            a_deleted_thread_takes_its_messages_along_and_leaves_its_calls
            nul_characters_are_replaced
            a_call_is_reported_step_by_step
            the_same_report_changes_nothing
            a_repeated_report_about_an_expired_call_answers_that_it_expired
            a_finished_call_refuses_another_report
            a_call_expires
            of_two_approvers_at_once_one_decides
            calls_are_listed_by_project_and_state
            approving_the_call_accepts_the_item
            rejecting_the_call_rejects_the_item
            deciding_the_item_decides_the_call
            a_proposed_change_of_state_is_made_with_its_call
            decisions_from_both_sides_at_once_do_not_block
            approving_an_item_supersedes_the_one_it_names
            of_two_equal_proposals_at_once_one_is_stored
            the_same_request_to_propose_twice_at_once_is_answered_twice
            an_event_and_a_metric_do_not_replace_a_rule
            two_measurements_that_replace_the_same_one_are_stored
            a_proposal_for_an_item_that_was_superseded_meanwhile_replaces_the_current_one
            an_item_is_superseded_only_once
            items_do_not_supersede_each_other
            an_event_is_never_changed
            the_situation_has_what_is_in_force
            of_what_is_blocked_only_commitments_are_in_force
            items_are_listed_by_type_and_state
            words_find_chunks_of_the_project_only
            titles_and_headings_count_more
            rare_words_count_more
            words_are_found_without_accents_and_in_scripts_without_spaces
            words_of_a_query_language_are_only_words
            categories_and_types_filter
            items_out_of_force_are_not_found
            an_edited_item_is_found_by_its_new_words
            the_nearest_vectors_are_found
            both_models_are_searched_until_the_old_one_is_dropped
            unembedded_texts_are_listed_until_they_are_embedded
            an_embedding_of_another_dimension_is_refused
            an_embedding_of_something_deleted_is_skipped
            an_embedding_of_an_edited_item_is_skipped
            a_document_is_ready_when_it_is_embedded
            a_model_with_another_dimension_starts_again
            deleting_a_project_deletes_everything
            events_are_leased_and_delivered_once
            concurrent_takers_share_the_events
            an_event_is_postponed_or_given_up
            an_answer_is_replayed_for_a_day
            expired_metrics_are_tidied_away
            the_feed_has_the_last_change_of_each_record_in_order
            the_same_record_again_is_no_change
            an_item_that_others_changed_is_not_overwritten
            another_end_of_an_item_is_shared
            what_is_changed_in_the_service_is_in_the_feed
            a_deleted_record_is_in_the_feed_without_content
            projects_share_nothing_with_each_other
            a_reader_misses_nothing_of_concurrent_writers
        }
    };
    (@call $run:path => $($check:ident)+) => {
        $(
            $run(stringify!($check), |store| Box::pin($crate::contract::$check(store)));
        )+
    };
    (@test $run:path => $($check:ident)+) => {
        $(
            #[test]
            fn $check() {
                $run(|store| Box::pin($crate::contract::$check(store)));
            }
        )+
    };
}
