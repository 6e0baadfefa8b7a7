//! Databases and their volumes.

use super::*;

#[test]
fn databases_for_tests_are_there_to_be_dropped() {
    dangers("Fix the parser", NO_DANGER).of(&[
        "dropdb app_test && createdb app_test",
        "dropdb --if-exists app_ci",
        "createdb app && dropdb app",
        "sqlite3 /tmp/t.db \"DROP TABLE x\"",
        "sqlite3 :memory: \"DROP TABLE x\"",
        "psql app_test -c 'DROP SCHEMA public CASCADE'",
        "psql app -c 'DROP TABLE IF EXISTS x; CREATE TABLE x (id int)'",
    ]);
    dangers("Fix the parser", 3..=3).of(&[
        "dropdb app",
        "dropdb app && createdb app",
        "sqlite3 app.db 'DROP TABLE x'",
        "sqlite3 app.db \"DROP TABLE IF EXISTS x\"",
        "psql app -c 'DROP TABLE tests'",
    ]);
}

#[test]
fn a_statement_that_speaks_of_dropping_drops_nothing() {
    dangers("Fix the parser", NO_DANGER).of(&[
        r#"psql -c "select * from users where note like 'drop table%'""#,
        r#"psql -c "select 'it''s a drop table' from users""#,
        r#"psql -c "select 1 -- drop table users""#,
        r#"psql -c "select 1 /* drop table users */""#,
    ]);
    dangers("Fix the parser", 3..=3).of(&[
        r#"psql -c "select 'a'; drop table users; select 'b'""#,
        r#"psql -c "do 'begin execute ''drop table users''; end'""#,
        r#"psql -c 'drop table "users"'"#,
        r#"psql -c "drop table users; -- it's""#,
        r#"psql --command="drop table users""#,
        r#"psql -c "select it's; drop table users""#,
    ]);
}

#[test]
fn volumes_go_with_containers_only_where_that_is_said() {
    let with_volumes = [
        "docker compose down -v",
        "docker compose -f stack.yml down --volumes",
        "docker-compose down -v",
    ];
    dangers("Fix the parser", 4..=4).of(&with_volumes);
    dangers("Start with a fresh database", NO_DANGER).of(&with_volumes);
    dangers("Fix the parser", NO_DANGER).of(&[
        "docker compose down",
        "docker compose up -d",
        "docker compose -f docker-compose.test.yml down -v",
        "docker run -v /a:/b image down",
    ]);
}
