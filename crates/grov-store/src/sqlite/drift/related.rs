//! Finds earlier steps related to the actions to be judged.

use crate::sqlite::sessions::step_columns;

/// One of four criteria: selects the newest `?5` steps for which `$column` of `candidates` is true.
macro_rules! question {
    ($number:literal, $column:literal) => {
        concat!(
            "SELECT ",
            $number,
            " AS question, * FROM (SELECT session_id, id FROM candidates WHERE ",
            $column,
            " ORDER BY timestamp DESC, id DESC LIMIT ?5)"
        )
    };
}

/// Selects at most `?6` of the newest `?7` steps of client session `?1` that are on goal: those that touched files `?2`
/// or folders `?3`, that share keywords `?4`, and key decisions.
pub(super) const SQL: &str = concat!(
    "WITH candidates AS MATERIALIZED (SELECT st.session_id, st.id, st.timestamp, st.is_key_decision AS decides, \
     EXISTS (SELECT 1 FROM json_each(st.files) f WHERE f.value IN (SELECT value FROM json_each(?2))) AS same_file, \
     EXISTS (SELECT 1 FROM json_each(st.folders) f WHERE f.value IN (SELECT value FROM json_each(?3))) OR \
     EXISTS (SELECT 1 FROM json_each(st.files) f WHERE rtrim(f.value, replace(f.value, '/', '')) \
      IN (SELECT rtrim(value, '/') || '/' FROM json_each(?3))) AS same_folder, \
     EXISTS (SELECT 1 FROM json_each(st.keywords) k WHERE k.value COLLATE NOCASE \
      IN (SELECT value FROM json_each(?4))) AS same_word \
     FROM (SELECT n.session_id, n.id FROM session_states s CROSS JOIN steps n ON n.session_id = s.session_id \
      WHERE s.client_session_id = ?1 AND n.is_validated = 1 ORDER BY n.timestamp DESC, n.id DESC LIMIT ?7) newest \
     CROSS JOIN steps st ON st.session_id = newest.session_id AND st.id = newest.id), \
     found AS (",
    question!("1", "same_file"),
    " UNION ALL ",
    question!("2", "same_folder"),
    " UNION ALL ",
    question!("3", "same_word"),
    " UNION ALL ",
    question!("4", "decides"),
    ") SELECT ",
    step_columns!(),
    " FROM (SELECT session_id, id, min(question) AS question FROM found GROUP BY session_id, id) answers \
     CROSS JOIN steps st ON st.session_id = answers.session_id AND st.id = answers.id \
     ORDER BY answers.question, st.timestamp DESC, st.id DESC LIMIT ?6"
);
