use crate::inline::ScanBudget;
use crate::shell::run::Walk;
use crate::{ToolCall, understand};
use grov_domain::EffectKind;
use proptest::prelude::*;

/// Code that runs `script` several times. With `distinct`, each time as a different line.
fn running(language: usize, script: &str, times: usize, distinct: bool, level: usize) -> String {
    let (program, given, own, dot) = [
        ("perl", "$x=q{SCRIPT};", "$x", "."),
        ("ruby", "x=%q{SCRIPT};", "x", "+"),
    ][language % 2];
    let calls: String = (0..times)
        .map(|number| match distinct {
            true => format!("system('A={number};'{dot}{own});"),
            false => format!("system({own});"),
        })
        .collect();
    let given = given.replace("SCRIPT", script);
    format!("{program} <<'E{level}'\n{given}{calls}\nE{level}\n")
}

fn nested(levels: usize, times: usize, distinct: bool) -> String {
    (0..levels).fold("rm inner".to_owned(), |script, level| {
        running(0, &script, times, distinct, level)
    })
}

fn walked(script: &str) -> ScanBudget {
    let mut walk = Walk::new(Some("/w"));
    walk.script(script);
    walk.budget
}

/// The removed paths, in order.
fn removed(script: &str) -> Vec<String> {
    let input = serde_json::json!({ "command": script }).to_string();
    let action = understand(&ToolCall {
        name: "Bash",
        id: None,
        input: input.as_str().into(),
        working_directory: Some("/w"),
    });
    let removals = action
        .effects
        .into_iter()
        .filter(|effect| effect.kind == EffectKind::Delete);
    removals.flat_map(|effect| effect.paths).collect()
}

#[test]
fn repeated_scripts_are_analyzed_once() {
    for levels in 1..=5 {
        let script = nested(levels, 64, false);
        assert_eq!(walked(&script).scripts(), levels);
        assert_eq!(removed(&format!("{script}rm outer")), ["/w/inner", "/w/outer"]);
    }
}

#[test]
fn the_number_of_scripts_in_self_multiplying_code_is_limited() {
    for levels in 2..=6 {
        let script = nested(levels, 40, true);
        assert_eq!(walked(&script).scripts(), 64, "{levels}");
        let removed = removed(&format!("rm before\n{script}"));
        assert_eq!(removed.first().map(String::as_str), Some("/w/before"));
    }
}

#[test]
fn a_line_that_repeats_a_long_text_is_left_out() {
    let many = "system $x, ".repeat(400);
    let script = format!(
        "perl -e '$x=\"{}\"; {many}1; system(q{{rm a}})'",
        "A".repeat(2700)
    );
    assert!(walked(&script).scripts() <= 64);
    assert_eq!(removed(&script), ["/w/a"]);
}

proptest! {
    #[test]
    fn the_number_of_scripts_is_limited_for_any_nesting(
        layers in proptest::collection::vec((0..4_usize, 1..48_usize, any::<bool>()), 0..8),
        leaf in "(rm a|ls; rm b|\\{|\\}|'|\"|perl -e|exec\\(){0,3}",
    ) {
        let script = layers.iter().enumerate().fold(leaf, |script, (level, (kind, times, distinct))| match kind {
            2 => format!("bash <<'E{level}'\n{script}\nE{level}\n").repeat(*times % 3 + 1),
            3 => format!("eval 'A={level}' {script}\n").repeat(*times % 3 + 1),
            kind => running(*kind, &script, *times, *distinct, level),
        });
        // `understand` analyzes this much.
        let script = &script[..script.floor_char_boundary(8 * 1024)];
        prop_assert!(walked(script).scripts() <= 64);
    }
}

#[test]
fn consoles_of_frameworks_run_code() {
    for command in [
        "python manage.py shell -c \"from a import B; B.objects.all().delete()\"",
        "./manage.py shell --command='B.objects.all().delete()'",
        "python manage.py shell <<EOF\nB.objects.all().delete()\nEOF",
        "echo 'B.objects.all().delete()' | python3 manage.py shell",
        "flask shell <<EOF\ndb.drop_all()\nEOF",
        "RAILS_ENV=production bundle exec rails runner \"User.where('a < 1').delete_all\"",
        "bin/rails r 'User.destroy_all'",
        "php artisan tinker --execute=\"DB::table('pages')->truncate();\"",
        "mongosh app --eval 'db.sessions.deleteMany({})'",
        "awk '{system(\"psql -c \\\"x\\\"\" $2)}' f",
    ] {
        let programs = crate::command_line(command).programs;
        assert!(
            programs.iter().any(|program| program.name() == "psql"),
            "{command}: {programs:?}"
        );
    }
    for command in [
        "RAILS_ENV=test rails runner 'User.destroy_all'",
        "rails runner scripts/report.rb",
        "awk '{print $2}' f",
        "python manage.py shell -c 'print(B.objects.count())'",
    ] {
        let programs = crate::command_line(command).programs;
        assert!(
            !programs.iter().any(|program| program.name() == "psql"),
            "{command}: {programs:?}"
        );
    }
}
