//! What ties a change to the work, and neighbours that nothing ties.

use super::{goal, is_off};
use crate::Rules;
use crate::analyzed_action::tests::{bash, edit, read};
use grov_domain::{ActionSketch, ActionType};

fn write(file: &str, text: &str) -> ActionSketch {
    ActionSketch {
        action_type: ActionType::Write,
        ..edit(file, text)
    }
}

/// Whether the last action is off the goal. An output is shown after the actions before it.
fn last_is_off(request: &str, actions: &[ActionSketch], output: &str) -> bool {
    let mut rules = Rules::new(goal(request), Some("/home/me/p"));
    let (last, before) = actions.split_last().unwrap();
    for action in before {
        rules.assess(action, None);
    }
    if !output.is_empty() {
        rules.record_output(output);
    }
    is_off(&rules.assess(last, None))
}

/// The first edits of a session about archiving projects.
fn archiving(last: ActionSketch) -> Vec<ActionSketch> {
    vec![
        read("app/models/project.rb"),
        edit(
            "app/models/project.rb",
            "scope :archived, -> { where.not(archived_at: nil) }\n\n  def archive!\n    update!(archived_at: Time.current)\n  end",
        ),
        edit(
            "app/models/concerns/lockable.rb",
            "def lock!(reason) = update!(locked: reason)",
        ),
        last,
    ]
}

const ARCHIVE: &str = "projects can be archived and taken back by their owner";
const TABLE: &str = "<table class=\"zebra\"><tr><td>cell</td></tr></table>";

#[test]
fn the_same_subject_in_another_layer_is_tied() {
    let change = |file: &str| last_is_off(ARCHIVE, &archiving(edit(file, TABLE)), "");
    assert!(!change("web/views/project_view.erb"));
    assert!(!change("web/project/index.html"));
    assert!(change("web/views/invoice_list.erb"));
}

#[test]
fn a_role_that_the_request_names_is_tied() {
    let docker = "FROM alpine:3.19 AS build\nRUN apk add --no-cache musl-dev\nCOPY . /srv";
    let change = |more: &str| {
        let request = format!("{ARCHIVE}{more}");
        last_is_off(&request, &archiving(write("ops/Dockerfile", docker)), "")
    };
    assert!(change(""));
    assert!(!change(", and ship it in the docker image"));
    assert!(!change(" und bring es ins deployment"));
}

#[test]
fn a_place_that_the_request_names_is_tied() {
    let rule = "- alert: Slow\n  expr: probe_seconds > 3\n  for: 2m";
    let change = |more: &str| {
        let request = format!("{ARCHIVE}{more}");
        last_is_off(&request, &archiving(edit("grafana/rules/web.yml", rule)), "")
    };
    assert!(change(""));
    assert!(!change(", with an alert in grafana/"));
}

#[test]
fn what_an_output_names_is_tied() {
    let text = "class Importer:\n    def slots(self):\n        return self.queue.pop()";
    let change = |file: &str, output: &str| last_is_off(ARCHIVE, &archiving(edit(file, text)), output);
    for (file, output) in [
        ("jobs/importer.py", "jobs/importer.py:12: AttributeError: slots"),
        (
            "lib/jobs/importer.py",
            "WARNING: duplicate object description of jobs.importer, use :no-index:",
        ),
        (
            "src/plugins/PluginHost.h",
            "  21.9%  inkpad  PluginHost::discover",
        ),
    ] {
        assert!(!change(file, output), "{file}");
        assert!(change(file, "ok 12 tests in 3 s"), "{file}");
    }
}

#[test]
fn tests_after_an_edit_are_tied_but_not_during_a_drift() {
    let test = || {
        write(
            "spec/system/archive_spec.rb",
            "visit root_path\n    click_on 'Archive'\n    expect(page).to have_css('.toast')",
        )
    };
    assert!(!last_is_off(ARCHIVE, &archiving(test()), ""));
    let mut drift = archiving(write(
        "web/theme/colors.css",
        ":root { --primary: #36f; --radius: 8px }",
    ));
    drift.push(write(
        "web/theme/fonts.css",
        "@font-face { font-family: Inter; src: url(inter.woff2) }",
    ));
    drift.push(test());
    assert!(last_is_off(ARCHIVE, &drift, ""));
}

#[test]
fn a_package_vouches_for_nothing_before_the_work_uses_it() {
    let page = "import { FancyGrid } from 'fancygrid'\nexport const fancygridTheme = new FancyGrid()";
    let mut actions = archiving(bash("npm install fancygrid fancygrid-theme"));
    actions.push(write("frontend/fancy/start.ts", page));
    assert!(last_is_off(ARCHIVE, &actions, ""));
}

#[test]
fn a_short_text_says_little() {
    let change = |text: &str| last_is_off(ARCHIVE, &archiving(edit("app/services/cleanup.rb", text)), "");
    assert!(!change("retries 3"));
    assert!(change(
        "class Cleanup\n  def sweep(bucket)\n    bucket.objects.expired.each { |blob| blob.purge_later(queue: :low) }\n  end"
    ));
}
