//! What sounds like a limit and binds nothing.

use super::*;

#[test]
fn permissions_and_matters_of_taste_bind_nothing() {
    let ordinary: &[&str] = &[
        "edit src/a.ts: export function a() {",
        "edit src/a.go: errors.New(\"x\")",
        "edit src/a.py: def test(): return 1",
        "edit src/db/a.rs",
        "edit vendor/a.go",
        "edit tests/a.py",
        "write src/b.ts",
        "edit README.md: # Title",
        "npm run build",
        "npm ci",
        "curl localhost:3000",
        "git status",
        "pytest -q",
    ];
    let said = [
        "no need to avoid vendor/",
        "you don't have to touch the tests",
        "don't hesitate to change src/db/",
        "you may edit src/db/",
        "no breaking changes",
        "don't break the build",
        "without errors",
        "keep it simple",
        "don't overengineer this",
        "no fancy stuff",
        "must be backwards compatible",
        "must work on Windows",
        "don't log passwords",
        "at most 2 retries",
        "no more than 80 characters per line",
        "no global state",
        "only use the standard library",
        "don't change behaviour",
        "without changing the output format",
        "no new endpoints",
        "keep the function short",
        "don't touch src/db/ if you can avoid it",
        "nothing fancy",
        "keep the tests green",
        "not only the tests",
        "tests must pass",
        "use async/await, not callbacks",
        "names in English",
        "globs `**/*.md` only",
        "the docs/ folder only has markdown",
        "keep the style of the file",
        "kein Problem wenn es länger dauert",
        "pas besoin de toucher aux tests",
        "no hace falta tocar los tests",
        "non serve toccare src/db/",
        "不用改测试也可以",
        "テストを変更してもいい",
    ];
    check_in_prompts(&said.map(|constraint| (constraint, constraint, &[] as &[_], ordinary)));
}

#[test]
fn what_the_program_must_do_and_how_things_are_limit_nothing() {
    let ordinary: &[&str] = &[
        "edit src/export.py: text = 'b'",
        "edit tests/login.py: order = 2",
        "edit src/api/users.ts: const a = 1;",
        "edit src/logs.ts",
        "docker logs api",
        "kubectl -n prod get pods",
        "ssh prod-1 tail -n 5 app.log",
        "psql -h prod-db -c 'select 1'",
        "npm cache verify",
        "rm -rf node_modules",
    ];
    let said = [
        (
            "empty names are not allowed",
            "Validate the form: empty names are not allowed",
        ),
        (
            "tests are not allowed to use the network",
            "tests are not allowed to use the network, mock it",
        ),
        ("except the export", "everything works except the export, fix it"),
        ("except the login one", "all tests pass except the login one"),
        (
            "stick to the conventions of src/api/orders.ts",
            "stick to the conventions of src/api/orders.ts",
        ),
        ("no logs", "no logs"),
        ("no cache", "no cache"),
        ("keep 2 columns", "keep 2 columns"),
        ("don't touch prod", "don't touch prod"),
        ("nothing gets deleted", "nothing gets deleted"),
        ("don't change the text", "don't change the text"),
        (
            "sin cambios",
            "actualiza el script, los tests deben pasar sin cambios",
        ),
        (
            "ohne Änderungen",
            "Schreib den Parser um, die Aufrufer sollen ohne Änderungen bauen",
        ),
    ];
    check_in_prompts(&said.map(|(constraint, prompt)| (prompt, constraint, &[] as &[_], ordinary)));
}
