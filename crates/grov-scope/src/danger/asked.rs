//! Prompts in ordinary words and the commands that they ask for, in a table beside this file.

use super::tests::is_asked;

#[test]
fn what_a_prompt_asks_for_in_ordinary_words_runs_and_what_goes_beyond_it_is_asked_about() {
    let table = include_str!("asked.txt");
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with("# ")) {
        let (kind, rest) = line.split_at(2);
        let (prompt, command) = rest.split_once(" => ").unwrap();
        if is_asked(prompt, command) != (kind == "? ") {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
