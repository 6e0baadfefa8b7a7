//! Tests of what the user asks for, as a model reads it.

use crate::rules::Rules;
use grov_domain::{ActionType, GoalContract, PromptReading, ReadRequest};

fn asks(commands: &[&str], files: &[&str], run: &str) -> bool {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let contract = GoalContract {
        goal: "Tidy the parser".to_owned(),
        reading: Some(PromptReading {
            asked: vec![ReadRequest {
                words: "tidy".to_owned(),
                files: owned(files),
                commands: owned(commands),
            }],
            ..PromptReading::default()
        }),
        ..GoalContract::default()
    };
    let mut rules = Rules::new(contract, Some("/home/me/p"));
    let action = crate::analyzed_action::tests::bash(run);
    assert_eq!(action.action_type, ActionType::Bash);
    rules.assess_subagent(&action).score < 5
}

#[test]
fn what_the_model_read_as_asked_for_is_no_question() {
    assert!(asks(&[], &[], "git push origin main"));
    assert!(!asks(
        &["^git push( origin)?( main)?$"],
        &[],
        "git push origin main"
    ));
    assert!(!asks(
        &["^git push\\b"],
        &[],
        "cargo test && git push origin main"
    ));
}

#[test]
fn a_request_excuses_its_own_command_only() {
    let push: &[&str] = &["^git push( origin)?( main)?$"];
    assert!(asks(push, &[], "git push --force origin main"));
    assert!(asks(push, &[], "git push origin main && npm publish"));
    assert!(asks(push, &[], "npm publish # git push origin main"));
}

#[test]
fn a_pattern_of_anything_excuses_nothing() {
    for pattern in [".*", "^\\w+ ", "push|publish|rm|delete", "(", ""] {
        assert!(asks(&[pattern], &[], "git push origin main"), "{pattern}");
    }
    assert!(asks(&[], &["**"], "rm -rf content"));
    assert!(!asks(&[], &["content/**"], "rm -rf content"));
}

#[test]
fn what_cannot_be_undone_stays_a_question() {
    assert!(asks(&["^mkfs"], &[], "mkfs.ext4 /dev/sda1"));
    assert!(asks(&["^rm -rf /"], &["/**"], "rm -rf /"));
}

#[test]
fn grov_itself_is_not_switched_off_by_request() {
    assert!(asks(&["^pkill grov"], &[], "pkill grov-proxyd"));
}

#[test]
fn a_command_on_another_machine_is_asked_for_as_a_whole() {
    let restart: &[&str] = &["^ssh web1 .*restart nginx"];
    assert!(asks(&[], &[], "ssh web1 sudo systemctl restart nginx"));
    assert!(!asks(restart, &[], "ssh web1 sudo systemctl restart nginx"));
    assert!(asks(
        restart,
        &[],
        "ssh web1 sudo systemctl restart nginx; ssh web1 rm -rf /var/www"
    ));
}

/// Whether a pattern excuses a command that is asked about without it.
fn excuses(pattern: &str, run: &str) -> bool {
    assert!(asks(&[], &[], run), "{run} is asked about");
    !asks(&[pattern], &[], run)
}

#[test]
fn a_pattern_of_a_push_does_not_excuse_a_forced_one() {
    for run in [
        "git push --force origin main",
        "git push -f origin main",
        "git push origin +main",
        "git push --mirror",
        "git push origin --delete main",
        "git push origin :main",
        "git push --no-verify origin main",
    ] {
        assert!(!excuses("^git push\\b", run), "{run}");
        assert!(!excuses("^git push.*", run), "{run}");
    }
    assert!(excuses("^git push\\b", "git push -u origin main"));
    assert!(excuses(
        "^git push (-f|--force|--force-with-lease)( origin main)?$",
        "git push --force origin main"
    ));
}

#[test]
fn words_in_a_comment_or_an_argument_excuse_no_other_command() {
    for run in [
        "npm publish # git push origin main",
        "npm publish --tag 'git push'",
    ] {
        assert!(!excuses("\\bgit push\\b", run), "{run}");
    }
    assert!(excuses("\\bgit push\\b", "git push origin main"));
}

#[test]
fn a_command_here_does_not_excuse_it_on_another_machine() {
    for run in [
        "ssh prod2 systemctl restart nginx",
        "ssh prod2 'sudo systemctl restart nginx; ls'",
    ] {
        assert!(!excuses("^systemctl restart nginx$", run), "{run}");
    }
}

#[test]
fn the_name_of_a_machine_or_shell_excuses_no_command_there() {
    assert!(!excuses("^ssh web1", "ssh web1 rm -rf /var/www"));
    assert!(!excuses("^ssh web1\\b.*", "ssh web1 rm -rf /var/www"));
    assert!(!excuses("^bash -c", "bash -c 'npm publish'"));
    assert!(!excuses(
        "^node -e",
        "node -e \"require('fs').rmSync('src',{recursive:true})\""
    ));
    assert!(!excuses("^crontab", "crontab -r"));
}

#[test]
fn a_client_excuses_no_statement_that_the_pattern_does_not_name() {
    for run in [
        "psql -h staging <<EOF\nDROP TABLE users;\nEOF",
        "echo 'DROP TABLE users' | psql -h staging",
        "psql -h staging -c 'DROP TABLE users'",
    ] {
        assert!(!excuses("^psql -h staging", run), "{run}");
    }
    let rows = "^psql .*DELETE FROM logs";
    assert!(!excuses(rows, "psql -c 'DELETE FROM logs; DROP TABLE users'"));
    assert!(excuses(rows, "psql -c 'DELETE FROM logs'"));
}

#[test]
fn production_in_a_variable_or_an_option_has_to_be_named() {
    for (pattern, run) in [
        (
            "^psql -c DROP TABLE tmp",
            "PGHOST=db.prod.example.com psql -c 'DROP TABLE tmp'",
        ),
        (
            "^psql -c DROP TABLE tmp",
            "PGHOST=db7.example.com psql -c 'DROP TABLE tmp'",
        ),
        ("^rails db:drop$", "RAILS_ENV=production rails db:drop"),
        ("^rails db:drop$", "export RAILS_ENV=production; rails db:drop"),
        ("^kubectl delete pod x", "kubectl delete pod x --context prod"),
        (
            "^terraform apply",
            "TF_WORKSPACE=prod terraform apply -auto-approve",
        ),
    ] {
        assert!(!excuses(pattern, run), "{run}");
    }
    assert!(excuses(
        "^(RAILS_ENV=production )?rails db:drop$",
        "RAILS_ENV=production rails db:drop"
    ));
}

#[test]
fn other_files_behind_those_that_the_user_named_are_asked_about() {
    let pattern = "^rm -rf content";
    for run in [
        "rm -rf content src",
        "rm -rf content_of_others",
        "rm -rf content/../src",
        "cd .. && rm -rf content",
        "cd /srv && rm -rf content",
    ] {
        assert!(!excuses(pattern, run), "{run}");
    }
    assert!(excuses(pattern, "rm -rf content"));
    assert!(asks(&[], &["content/**"], "rm -rf content src"));
}

#[test]
fn a_removal_without_a_name_excuses_nothing() {
    for pattern in ["^rm\\b", "^rm -rf .*", "^rm -rf \\S+$"] {
        assert!(!excuses(pattern, "rm -rf content"), "{pattern}");
    }
}

#[test]
fn a_glob_with_an_alternative_of_everything_permits_nothing() {
    for glob in ["{content,**}/**", "{content,*}", "**/*", "{a,*}/**"] {
        assert!(asks(&[], &[glob], "rm -rf src"), "{glob}");
    }
}

#[test]
fn many_large_patterns_cost_a_hook_little_time() {
    let large: Vec<String> = (0..96)
        .map(|at| format!("^{at}(\\w{{1,12}} ?){{1,12}}x$"))
        .collect();
    let patterns: Vec<&str> = large.iter().map(String::as_str).collect();
    let run = format!("git push origin main {}", "a".repeat(300));
    let line = vec![run.as_str(); 20].join("; ");
    let start = std::time::Instant::now();
    assert!(asks(&patterns, &[], &line));
    // Some ten milliseconds in a debug build; compiling for each command of the line would take a hundred times as long.
    assert!(start.elapsed() < std::time::Duration::from_secs(1));
}
