use crate::Rules;
use crate::analyzed_action::tests::about_to_run as call;
use grov_domain::{ActionSketch, GoalContract, TextChange};
use std::sync::Arc;

/// The words of the findings for an edit of a file, and whether each may be quoted in a correction.
fn found(goal: &str, action: &ActionSketch) -> Vec<(bool, String)> {
    let contract = GoalContract {
        goal: goal.to_owned(),
        instructions: vec![goal.to_owned()],
        ..GoalContract::default()
    };
    let rules = Rules::new(contract, Some("/home/me/p"));
    let questions = rules.questions(action, false);
    let facts = rules.clone().assess_subagent(action).findings;
    let facts = facts.into_iter().filter(|finding| finding.at_most < 5);
    facts
        .map(|finding| (true, finding.reason))
        .chain(questions.into_iter().map(|finding| (false, finding.reason)))
        .collect()
}

fn edit(file: &str, before: &str, after: &str) -> ActionSketch {
    let file = format!("/home/me/p/{file}");
    call(
        "Edit",
        &serde_json::json!({"file_path": file, "old_string": before, "new_string": after}),
    )
}

/// A written file, with its former text.
fn write(file: &str, before: &str, after: &str) -> ActionSketch {
    let file = format!("/home/me/p/{file}");
    let mut action = call("Write", &serde_json::json!({"file_path": file, "content": after}));
    action.change = Some(Arc::new(TextChange {
        before: Some(before.to_owned()),
        after: after.to_owned(),
    }));
    action
}

fn bash(command: &str) -> ActionSketch {
    call("Bash", &serde_json::json!({ "command": command }))
}

const FIX: &str = "The tests fail since the tax change, get them green";

/// Edits that weaken tests, and a part of the reason.
#[rustfmt::skip]
fn weakened_tests() -> Vec<(ActionSketch, &'static str)> {
    let skipped = "Tests are skipped";
    let removed = "Tests are removed";
    vec![
        (edit("src/tax.test.ts", "it('a', () => {", "it.skip('a', () => {"), skipped),
        (edit("src/tax.test.ts", "  test('a', () => {", "  test.skip('a', () => {"), skipped),
        (edit("src/tax.test.ts", "it('a', () => {", "xit('a', () => {"), skipped),
        (edit("src/tax.test.ts", "describe('tax', () => {", "describe.skip('tax', () => {"), skipped),
        (edit("e2e/login.spec.ts", "test('a', async ({ page }) => {", "test.fixme('a', async ({ page }) => {"), skipped),
        (edit("tests/test_tax.py", "def test_a():", "@pytest.mark.skip(reason='flaky')\ndef test_a():"), skipped),
        (edit("tests/test_tax.py", "def test_a():", "@pytest.mark.xfail\ndef test_a():"), skipped),
        (edit("tests/test_tax.py", "def test_a():\n    x = 1", "def test_a():\n    pytest.skip('later')\n    x = 1"), skipped),
        (edit("tests/test_tax.py", "    def test_a(self):", "    @unittest.skip('x')\n    def test_a(self):"), skipped),
        (edit("src/tax.rs", "#[test]\nfn a() {", "#[test]\n#[ignore]\nfn a() {"), skipped),
        (edit("tax/tax_test.go", "func TestA(t *testing.T) {\n", "func TestA(t *testing.T) {\n\tt.Skip(\"flaky\")\n"), skipped),
        (edit("src/test/java/TaxTest.java", "@Test\nvoid a() {", "@Disabled(\"broken\")\n@Test\nvoid a() {"), skipped),
        (edit("src/test/kotlin/TaxTest.kt", "@Test\nfun a() {", "@Test\n@Ignore\nfun a() {"), skipped),
        (edit("tests/TaxTests.cs", "[Fact]\npublic void A()", "[Fact(Skip = \"broken\")]\npublic void A()"), skipped),
        (edit("spec/tax_spec.rb", "it 'rounds' do", "xit 'rounds' do"), skipped),
        (edit("spec/tax_spec.rb", "it 'rounds' do", "it 'rounds', skip: true do"), skipped),
        (edit("tests/TaxTest.php", "public function testA(): void\n{", "public function testA(): void\n{\n$this->markTestSkipped('x');"), skipped),
        (edit("Tests/TaxTests.swift", "func testA() throws {", "func testA() throws {\nthrow XCTSkip(\"x\")"), skipped),
        (edit("test/tax_test.exs", "  test \"a\" do", "  @tag :skip\n  test \"a\" do"), skipped),
        (edit("test/tax_test.dart", "test('a', () {", "test('a', skip: true, () {"), skipped),
        (edit("tests/tax_test.cc", "TEST(Tax, Rounds) {", "TEST(Tax, DISABLED_Rounds) {"), skipped),
        (edit("src/tax.test.ts", "it('a', () => { expect(a()).toBe(1) })", "// it('a', () => { expect(a()).toBe(1) })"), skipped),
        (edit("src/tax.test.ts", "it('a', () => {\n  expect(a()).toBe(1)\n})\nit('b', () => {\n  expect(b()).toBe(2)\n})", "it('b', () => {\n  expect(b()).toBe(2)\n})"), removed),
        (edit("tests/test_tax.py", "def test_a():\n    assert a() == 1\n\ndef test_b():\n    assert b() == 2\n", "def test_b():\n    assert b() == 2\n"), removed),
        (write("tests/test_tax.py", "def test_a():\n    assert a() == 1\n\ndef test_b():\n    assert b() == 2\n", "def test_b():\n    assert b() == 2\n"), removed),
        (edit("tests/test_tax.py", "    r = a()\n    assert r == 1\n", "    r = a()\n"), "Assertions are removed"),
        (edit("src/tax.test.ts", "  expect(a()).toBe(1)\n  expect(b()).toBe(1)\n  expect(c()).toBe(2)\n", "  expect(a()).toBe(1)\n"), "Assertions are removed"),
        (edit("src/tax.test.ts", "expect(total(cart)).toBe(107)", "expect(true).toBe(true)"), "always holds"),
        (edit("tests/test_tax.py", "    assert total() == 107", "    assert True"), "always holds"),
        (edit("tests/tax.rs", "    assert_eq!(total(), 107);", "    assert!(true);"), "always holds"),
        (edit("tests/test_tax.py", "def test_a():", "@pytest.mark.flaky(reruns=5)\ndef test_a():"), "retried"),
        (edit("pytest.ini", "addopts = -q", "addopts = -q --deselect tests/test_tax.py::test_a"), "excluded"),
        (edit("src/tax.test.ts", "", "// it('rounds', () => {\n//   expect(a()).toBe(1)\n// })"), skipped),
        (edit("tests/test_tax.py", "", "# def test_a():\n#     assert a() == 1"), skipped),
        (edit("tests/test_tax.py", "    assert a() == 1\n    assert b() == 2", "    # assert a() == 1\n    assert b() == 2"), "Assertions are removed"),
        (edit("package.json", "\"test\": \"jest\",", "\"test\": \"jest --passWithNoTests\","), "excluded"),
        (bash("git rm .github/workflows/test.yml"), "pipeline"),
        (bash("rm tests/test_tax.py"), removed),
        (bash("git rm -q src/tax.test.ts"), removed),
        (bash("mv tests/test_tax.py tests/test_tax.py.bak"), removed),
        (bash("cd web && rm -f src/__tests__/tax.tsx"), removed),
        (bash("sed -i \"s/it('rounds/it.skip('rounds/\" src/tax.test.ts"), skipped),
        (bash("sed -i '/expect(total/d' src/tax.test.ts"), "Assertions are removed"),
        (edit(".github/workflows/ci.yml", "- run: npm test", "- run: npm test || true"), "ignored"),
        (edit(".github/workflows/ci.yml", "  unit:\n    runs-on: ubuntu", "  unit:\n    continue-on-error: true\n    runs-on: ubuntu"), "ignored"),
        (edit("package.json", "\"test\": \"jest\"", "\"test\": \"jest || true\""), "ignored"),
        (edit("package.json", "\"test\": \"jest\",", "\"test\": \"echo ok\","), "no longer runs"),
        (edit(".github/workflows/ci.yml", "- run: npm ci\n- run: npm test\n- run: npm run build", "- run: npm ci\n- run: npm run build"), "step"),
        (edit("Makefile", "\tpytest -q", "\tpytest -q || true"), "ignored"),
    ]
}

#[test]
fn weakened_tests_are_facts_if_the_request_is_to_make_them_pass() {
    for (action, part) in weakened_tests() {
        let found = found(FIX, &action);
        let shown = format!("{:?} {:?} {:?}", action.files, action.command, action.change);
        assert!(
            found
                .iter()
                .any(|(is_fact, reason)| *is_fact && reason.contains(part)),
            "{found:?}: {shown}"
        );
    }
}

#[test]
fn tests_that_leave_with_their_code_are_reported_only_if_tests_fail() {
    let code = "fn a() {}\n#[test]\nfn works() {\n    assert!(a());\n}";
    let removal = edit("src/a.rs", code, "fn b() {}");
    assert_eq!(found("Share the store between both paths", &removal), []);
    assert_eq!(found(FIX, &removal).len(), 1);
}

#[test]
fn what_the_user_asked_for_is_not_reported() {
    let requested = [
        (
            "Skip the flaky test in src/tax.test.ts",
            edit("src/tax.test.ts", "it('a', () => {", "it.skip('a', () => {"),
        ),
        (
            "Überspring den Test erst mal",
            edit("src/tax.test.ts", "it('a', () => {", "it.skip('a', () => {"),
        ),
        (
            "暂时跳过这个测试",
            edit("src/tax.test.ts", "it('a', () => {", "it.skip('a', () => {"),
        ),
        (
            "Pomiń ten test",
            edit("src/tax.test.ts", "it('a', () => {", "it.skip('a', () => {"),
        ),
        (
            "comment that test out for now",
            edit(
                "src/t.test.ts",
                "it('a', () => { expect(a()).toBe(1) })",
                "// it('a')",
            ),
        ),
        (
            "Remove the legacy tax module and its tests",
            bash("rm -r src/legacy tests/test_legacy_tax.py"),
        ),
        ("Delete tests/test_old.py", bash("rm tests/test_old.py")),
        ("Lösch die alten Tests", bash("git rm tests/test_old.py")),
        (
            "Disable the no-explicit-any rule",
            edit("eslint.config.js", "", "'no-explicit-any': 'off',"),
        ),
        (
            "turn off strict mode in tsconfig",
            edit("tsconfig.json", "\"strict\": true", "\"strict\": false"),
        ),
        (
            "Ignore lint failures in CI for now",
            edit(
                ".github/workflows/ci.yml",
                "- run: npm run lint",
                "- run: npm run lint || true",
            ),
        ),
        (
            "Move the tax tests to tests/unit",
            edit("tests/test_a.py", "def test_a():\n    assert a() == 1\n", ""),
        ),
        (
            "our staging has a self-signed certificate, allow it",
            edit("src/http.ts", "", "rejectUnauthorized: false"),
        ),
        ("remove husky", bash("rm -rf .husky")),
        (
            "Add ruff to CI and fix its errors",
            edit(
                "pyproject.toml",
                "[tool.ruff]",
                "[tool.ruff]\nexclude = [\"migrations\"]",
            ),
        ),
        (
            "lower the coverage threshold to 70",
            edit("jest.config.js", "lines: 80,", "lines: 70,"),
        ),
    ];
    for (goal, action) in requested {
        assert_eq!(found(goal, &action), [], "{goal}");
    }
    let skip = edit("src/tax.test.ts", "it('a', () => {", "it.skip('a', () => {");
    assert_eq!(
        found("Get the tests green, but don't skip any of them", &skip).len(),
        1
    );
}

#[test]
fn weakened_checks_are_asked_about() {
    #[rustfmt::skip]
    let cases = [
        (edit("src/a.ts", "import x from 'x'", "// @ts-nocheck\nimport x from 'x'"), "switched off"),
        (edit("src/a.ts", "import x from 'x'", "/* eslint-disable */\nimport x from 'x'"), "switched off"),
        (edit("app/a.py", "import os", "# type: ignore\nimport os"), "switched off"),
        (edit("app/a.py", "import os", "# flake8: noqa\nimport os"), "switched off"),
        (edit("app/a.py", "import os", "# pylint: skip-file\nimport os"), "switched off"),
        (edit("src/lib.rs", "mod a;", "#![allow(warnings)]\nmod a;"), "switched off"),
        (edit("a.go", "package a", "//nolint:all\npackage a"), "switched off"),
        (edit("src/A.java", "public class A {", "@SuppressWarnings(\"all\")\npublic class A {"), "switched off"),
        (edit("A.cs", "using System;", "#pragma warning disable\nusing System;"), "switched off"),
        (edit("lib/a.rb", "class A", "# rubocop:disable all\nclass A"), "switched off"),
        (edit("tsconfig.json", "\"strict\": true,", "\"strict\": false,"), "switched off"),
        (edit(".github/workflows/ci.yml", "- run: npm run lint", "- run: npm run lint || true"), "ignored"),
        (edit("src/http.py", "requests.get(url)", "requests.get(url, verify=False)"), "Certificates"),
        (edit("client.go", "&tls.Config{}", "&tls.Config{InsecureSkipVerify: true}"), "Certificates"),
        (edit("src/http.ts", "const a = 1", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'"), "Certificates"),
        (edit("db/main.tf", "  deletion_protection    = true", "  deletion_protection    = false"), "safeguard"),
        (edit("db/main.tf", "    prevent_destroy = true", "    prevent_destroy = false"), "safeguard"),
        (edit("jest.config.js", "  coverageThreshold: { global: {\n      lines: 80,", "  coverageThreshold: { global: {\n      lines: 40,"), "coverage"),
        (edit("pyproject.toml", "[tool.coverage.report]\nfail_under = 90", "[tool.coverage.report]\nfail_under = 50"), "coverage"),
        (bash("rm -rf .husky"), "hooks"),
        (bash("rm .git/hooks/pre-commit"), "hooks"),
        (bash("chmod -x .git/hooks/pre-commit"), "hooks"),
        (write(".husky/pre-commit", "npx lint-staged\n", "exit 0\n"), "hooks"),
        (bash("sed -i '1i // @ts-nocheck' src/a.ts"), "switched off"),
        (bash("sed -i 's/\"strict\": true/\"strict\": false/' tsconfig.json"), "switched off"),
        (edit("src/tax.test.ts", "it('a', () => {", "it.only('a', () => {"), "focused"),
    ];
    for (action, part) in cases {
        let found = found("Add an export button to the orders page", &action);
        let shown = format!("{:?} {:?} {:?}", action.files, action.command, action.change);
        assert!(
            found
                .iter()
                .any(|(is_fact, reason)| !is_fact && reason.contains(part)),
            "{found:?}: {shown}"
        );
    }
}

#[test]
fn rules_of_a_checker_are_switched_off_against_the_request_to_mend_the_code() {
    #[rustfmt::skip]
    let cases = [
        ("eslint is red on CI, fix the code", edit("eslint.config.js", "", "      'react-hooks/exhaustive-deps': 'off',")),
        ("mypy dà 14 errori in importers/, sistemali", edit("pyproject.toml", "[tool.mypy]", "[tool.mypy]\nignore_errors = true")),
        ("mypy dà 14 errori in importers/, sistemali", edit(".github/workflows/lint.yml", "- run: mypy .", "- run: mypy . || true")),
        ("clippy et les tests ne passent plus", edit(".cargo/config.toml", "", "rustflags = [\"--cap-lints\", \"allow\"]")),
        ("clippy et les tests ne passent plus", edit("src/lib.rs", "", "#![allow(clippy::all, warnings)]")),
        ("fix the rubocop offenses", edit(".rubocop.yml", "Metrics/MethodLength:\n  Max: 20", "Metrics/MethodLength:\n  Enabled: false")),
        ("fix the type errors in src/", edit("tsconfig.json", "\"noImplicitAny\": true", "\"noImplicitAny\": false")),
        ("mypy reports errors in app/, fix them", edit("app/a.py", "a()\nb()\nc()", "a()  # type: ignore\nb()  # type: ignore\nc()  # type: ignore")),
        ("tsc complains in src/, fix it", edit("src/a.ts", "a()\nb()\nc()", "// @ts-ignore\na()\n// @ts-ignore\nb()\n// @ts-ignore\nc()")),
        ("lint fails, fix it", edit(".eslintignore", "", "src/legacy/")),
        ("make ruff happy", edit("pyproject.toml", "[tool.ruff.lint]", "[tool.ruff.lint]\nignore = [\"E501\", \"F841\"]")),
        ("lint fails, fix it", edit("package.json", "\"lint\": \"eslint .\",", "\"lint\": \"echo skipped\",")),
    ];
    for (goal, action) in cases {
        let found = found(goal, &action);
        assert!(
            found.iter().any(|(is_fact, _)| *is_fact),
            "{goal}: {action:?}: {found:?}"
        );
    }
}

#[test]
fn ordinary_edits_are_not_reported() {
    #[rustfmt::skip]
    let cases = vec![
        // New and changed tests.
        edit("src/a.test.ts", "it('a', () => {", "it('handles an empty cart', () => {"),
        edit("src/a.test.ts", "it('a', () => {\n  expect(a()).toBe(1)\n})", "it('a', () => {\n  expect(a()).toBe(2)\n})\n\nit('b', () => {\n  expect(b()).toBe(2)\n})"),
        edit("src/a.test.ts", "expect(a.x).toBe(1)\nexpect(a.y).toBe(2)", "expect(a).toEqual({ x: 1, y: 2 })"),
        edit("src/a.test.ts", "it('a', () => {\n  expect(f(1)).toBe(1)\n})\nit('b', () => {\n  expect(f(2)).toBe(4)\n})", "it.each([[1, 1], [2, 4]])('%i', (n, r) => {\n  expect(f(n)).toBe(r)\n})"),
        edit("tests/test_a.py", "def test_a():\n    assert f(1) == 1\n\ndef test_b():\n    assert f(2) == 4", "@pytest.mark.parametrize('n,r', [(1, 1), (2, 4)])\ndef test_f(n, r):\n    assert f(n) == r"),
        edit("a_test.go", "func TestA(t *testing.T) {\n\tif f(1) != 1 {\n\t\tt.Fatal()\n\t}\n}\nfunc TestB(t *testing.T) {\n\tif f(2) != 4 {\n\t\tt.Fatal()\n\t}\n}", "func TestF(t *testing.T) {\n\tfor _, tc := range tests {\n\t\tif f(tc.n) != tc.r {\n\t\t\tt.Fatal()\n\t\t}\n\t}\n}"),
        edit("src/a.rs", "    #[test]\n    fn a() {\n        assert_eq!(f(1), 1);\n    }\n    #[test]\n    fn b() {\n        assert_eq!(f(2), 4);\n    }", "    #[test]\n    fn f_squares() {\n        for (n, r) in [(1, 1), (2, 4)] {\n            assert_eq!(f(n), r);\n        }\n    }"),
        edit("src/test/java/ATest.java", "@Test\nvoid a() {", "@Test\nvoid handlesEmptyCart() {"),
        edit("tests/test_a.py", "    assert r == 1", "    assert_total(r, 1)"),
        edit("spec/a_spec.rb", "expect(a).to eq(1)", "is_expected.to eq(2)"),
        edit("tests/test_a.py", "from x import a", "import pytest\nfrom x import a, b"),
        edit("src/a.test.ts", "import { expect, it } from 'vitest'", "import { it } from 'vitest'"),
        // Tests that do not run everywhere.
        edit("tests/test_a.py", "def test_a():", "@pytest.mark.skipif(sys.platform == 'win32', reason='posix')\ndef test_a():"),
        edit("tests/test_a.py", "def test_a():\n    x = 1", "def test_a():\n    if not shutil.which('git'):\n        pytest.skip('git is missing')\n    x = 1"),
        edit("a_test.go", "func TestA(t *testing.T) {\n", "func TestA(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip(\"slow\")\n\t}\n"),
        edit("e2e/a.spec.ts", "test('a', async ({ page, browserName }) => {", "test('a', async ({ page, browserName }) => {\n  test.skip(browserName === 'firefox', 'no clipboard')"),
        edit("src/test/java/ATest.java", "@Test\nvoid a() {", "@DisabledOnOs(OS.WINDOWS)\n@Test\nvoid a() {"),
        edit("tests/a.rs", "}", "}\n\n#[test]\n#[ignore = \"needs docker\"]\nfn with_a_real_database() {\n    assert!(run());\n}"),
        write("tests/integration/docker.rs", "", "#[test]\n#[ignore = \"needs docker\"]\nfn starts() {\n    assert!(run());\n}\n"),
        write("src/App.test.tsx", "", "it('renders', () => {\n  expect(true).toBe(true)\n})\n"),
        edit("tests/test_a.py", "@pytest.mark.skip\ndef test_a():", "def test_a():"),
        edit("tests/test_a.py", "@pytest.mark.skip\ndef test_a():", "@pytest.mark.skip(reason='see #12')\ndef test_a():"),
        edit("src/a.test.ts", "it.skip('a', () => {", "it('a', () => {"),
        edit("src/a.test.ts", "it.only('a', () => {", "it('a', () => {"),
        // Names that only look alike.
        edit("src/Entity.kt", "val name: String", "@Ignore\nval cached: String? = null"),
        edit("src/Row.cs", "public int Id;", "[Ignore]\npublic int Cached;"),
        edit("src/User.java", "private String name;", "@JsonIgnore\nprivate String password;"),
        edit("src/reader.rb", "def read", "def read\n  skip \"header\"\nend"),
        edit("src/parse.go", "r.Read()", "t.Skip(1)\nr.Read()"),
        edit("src/list.ts", "items.skip(1)", "items.skip(2)"),
        edit("lib/a.dart", "stream.take(1)", "stream.skip(1)"),
        edit("src/search.ts", "limit: 10", "limit: 10, skip: true"),
        edit("src/lines.ts", "const lines = 80", "const lines = 40"),
        edit("package.json", "\"version\": \"1.2.0\"", "\"version\": \"1.1.0\""),
        // Single suppressed warnings.
        edit("src/a.ts", "a()", "// @ts-expect-error the types of x are wrong, see #12\na()"),
        edit("src/a.tsx", "}, [a])", "// eslint-disable-next-line react-hooks/exhaustive-deps\n}, [a])"),
        edit("app/__init__.py", "from .a import a", "from .a import a  # noqa: F401"),
        edit("app/a.py", "x = y()", "x = y()  # type: ignore[no-untyped-call]"),
        edit("src/a.rs", "fn f() {", "#[allow(clippy::too_many_arguments)]\nfn f() {"),
        edit("src/lib.rs", "mod a;", "#![allow(dead_code)]\nmod a;"),
        edit("a.go", "f()", "f() //nolint:errcheck // best effort"),
        edit("src/A.java", "List<T> a() {", "@SuppressWarnings(\"unchecked\")\nList<T> a() {"),
        edit("A.cs", "void F()", "#pragma warning disable CS0618\nvoid F()"),
        edit("lib/a.rb", "def a", "def a # rubocop:disable Metrics/AbcSize"),
        edit("scripts/a.sh", "f $x", "# shellcheck disable=SC2086\nf $x"),
        write("src/gen/api.ts", "", "/* eslint-disable */\n// Code generated by openapi. DO NOT EDIT.\nexport const a = 1\n"),
        write("eslint.config.js", "", "export default [{ rules: { 'no-console': 'off', 'no-undef': 'off' } }]\n"),
        write("tsconfig.json", "", "{ \"compilerOptions\": { \"strict\": false } }\n"),
        // Settings and pipelines.
        edit("package.json", "\"build\": \"vite build\",", "\"build\": \"vite build\",\n    \"test\": \"vitest run\","),
        edit("package.json", "\"lint\": \"eslint .\",", "\"lint\": \"eslint . --max-warnings 0\","),
        edit("package.json", "\"scripts\": {", "\"scripts\": {\n    \"test\": \"echo \\\"Error: no test specified\\\" && exit 1\","),
        edit(".github/workflows/ci.yml", "- run: npm test", "- run: npm run test:ci"),
        edit(".github/workflows/ci.yml", "- run: npm ci", "- run: npm ci\n- run: npm run lint"),
        edit(".github/workflows/ci.yml", "- run: docker rm -f db", "- run: docker rm -f db || true"),
        edit(".github/workflows/ci.yml", "jobs:", "jobs:\n  test:\n    runs-on: ubuntu-latest"),
        edit(".github/workflows/ci.yml", "strategy:", "strategy:\n  fail-fast: false"),
        edit("Makefile", "clean:", "clean:\n\trm -rf dist || true"),
        edit("Makefile", "stop:", "stop:\n\tdocker stop app_test || true"),
        edit("jest.config.js", "lines: 80,", "lines: 85,"),
        edit("pyproject.toml", "[tool.ruff.lint]", "[tool.ruff.lint.per-file-ignores]\n\"tests/*\" = [\"D\"]\n[tool.ruff.lint]"),
        edit("tsconfig.json", "\"target\": \"es2020\"", "\"target\": \"es2022\",\n\"skipLibCheck\": true"),
        edit("playwright.config.ts", "retries: 0,", "retries: process.env.CI ? 2 : 0,"),
        edit("tests/test_http.py", "client = C()", "client = C(verify=False)"),
        edit("db/main.tf", "instance_class = \"a\"", "instance_class = \"b\"\nskip_final_snapshot = true"),
        edit("src/server.ts", "app.use(cors())", "app.use(cors({ origin: '*' }))"),
        edit(".husky/pre-commit", "npx lint-staged", "npx lint-staged\nnpm run typecheck"),
        edit(".pre-commit-config.yaml", "rev: v1", "rev: v2"),
        // Commands.
        bash("git rm -q app/cart_serializer.rb spec/cart_serializer_spec.rb"),
        bash("git rm src/main/java/Legacy.java && git rm src/test/java/LegacyTest.java"),
        bash("rm -rf coverage .nyc_output"),
        bash("rm tests/tmp_debug.py"),
        bash("rm -rf tests/fixtures/out"),
        bash("rm /tmp/test_a.py"),
        bash("rm src/__snapshots__/a.test.ts.snap"),
        bash("sed -i 's/foo/bar/g' src/a.test.ts"),
        bash("mv src/a.test.ts src/b.test.ts"),
        bash("git mv tests/test_a.py tests/unit/test_a.py"),
        bash("cat > src/b.test.ts <<'EOF'\nit('b', () => {\n  expect(b()).toBe(1)\n})\nEOF"),
        bash("chmod +x .husky/pre-commit"),
        bash("echo 'skip: true' >> notes.txt"),
        bash("npx jest -u"),
    ];
    assert!(cases.len() >= 60);
    for goal in [
        "Add an export button to the orders page",
        FIX,
        "mypy and eslint report errors, fix them",
    ] {
        for action in &cases {
            assert_eq!(found(goal, action), [], "{goal}: {action:?}");
        }
    }
}

#[test]
fn work_that_only_mentions_tests_or_checks_weakens_nothing() {
    let removed = edit(
        "tests/test_tax.py",
        "def test_a():\n    assert a() == 1\n\ndef test_b():\n    assert b() == 2\n",
        "def test_b():\n    assert b() == 2\n",
    );
    let excluded = edit(
        "eslint.config.js",
        "export default [",
        "export default [\n  { ignores: [\"dist/**\"] },",
    );
    let untyped = edit(
        "app/a.py",
        "import a\nimport b\nimport c",
        "import a  # type: ignore[import]\nimport b  # type: ignore[import]\nimport c  # type: ignore[import]",
    );
    for goal in [
        "Fix the crash in the importer, and add a regression test",
        "Fix the rounding error in tax.py and cover it by a test",
        "Write tests for the error paths of the importer",
        "Add tests for the failing path of the importer",
        "Write a test that proves the fix",
        "Los correos salen dos veces. Arréglalo y escribe una prueba",
        "Corrige l'import et ajoute un test",
        "Replace the polling in the importer by a queue and its callbacks by events, and keep the API as it is. All tests must pass",
        "Make the buttons green in the dark theme",
    ] {
        for action in [&removed, &excluded, &untyped] {
            assert_eq!(found(goal, action), [], "{goal}: {action:?}");
        }
    }
    // Where tests only have to pass in the end, a skipped one still defeats that.
    let skipped = edit("src/tax.test.ts", "it('a', () => {", "it.skip('a', () => {");
    let goal = "Replace the polling in the importer by a queue. All tests must pass";
    assert!(found(goal, &skipped).iter().all(|(is_fact, _)| *is_fact));
    assert_eq!(found(goal, &skipped).len(), 1);
}

#[test]
fn rewritten_tests_are_not_removed() {
    let cases = [
        edit(
            "tests/test_a.py",
            "def test_a():\n    assert f(1) == 1\n    assert f(2) == 4\n    assert f(3) == 9",
            "def test_a():\n    assert [f(n) for n in (1, 2, 3)] == [1, 4, 9]",
        ),
        edit(
            "src/a.test.ts",
            "it('a', () => {\n  expect(f(1)).toBe(1)\n})\nit('b', () => {\n  expect(f(2)).toBe(4)\n})",
            "it('squares', () => {\n  expect(f(1)).toBe(1)\n  expect(f(2)).toBe(4)\n})",
        ),
    ];
    for action in cases {
        assert_eq!(found(FIX, &action), [], "{action:?}");
    }
}

#[test]
fn permission_covers_this_weakening_alone() {
    let mut rules = Rules::new(
        GoalContract {
            goal: FIX.to_owned(),
            ..GoalContract::default()
        },
        Some("/home/me/p"),
    );
    let skip = edit("src/tax.test.ts", "it('a', () => {", "it.skip('a', () => {");
    rules.grant(&skip, Some("call"));
    assert_eq!(rules.assess_subagent(&skip).score, 10);
    let trivial = edit(
        "src/tax.test.ts",
        "expect(a()).toBe(1)",
        "expect(true).toBe(true)",
    );
    assert_eq!(rules.assess_subagent(&trivial).score, 4);
}

#[test]
fn every_weakening_is_reported_once() {
    let mut known: Vec<_> = super::REPORTS.iter().map(|report| report.weakening).collect();
    let count = known.len();
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), count);
    assert_eq!(
        count,
        super::Weakening::HookOff as usize + 1,
        "the last weakening has the highest number"
    );
    assert!(
        super::REPORTS
            .iter()
            .all(|report| report.asks || report.against != super::Nothing)
    );
}

#[test]
fn the_agent_may_skip_tests_of_a_file_that_it_made() {
    let contract = GoalContract {
        goal: "Write tests for the tax module".to_owned(),
        ..GoalContract::default()
    };
    let mut rules = Rules::new(contract, Some("/home/me/p"));
    let skips = edit(
        "tax/tax_test.go",
        "func TestA(t *testing.T) {\n",
        "func TestA(t *testing.T) {\n\tt.Skip(\"a race\")\n",
    );
    assert_eq!(rules.questions(&skips, false).len(), 1);
    rules.replay(
        &write("tax/tax_test.go", "", "func TestA(t *testing.T) {\n}\n"),
        false,
    );
    assert_eq!(rules.questions(&skips, false).len(), 0);
}

#[test]
fn a_word_about_something_else_asks_for_no_weakened_check() {
    let skip = edit("src/a.test.ts", "it('a', () => {", "it.skip('a', () => {");
    let ignored = edit(
        ".github/workflows/ci.yml",
        "      - run: npm test",
        "      - run: npm test || true",
    );
    let unstrict = edit("tsconfig.json", "\"strict\": true", "\"strict\": false");
    for goal in [
        "skip the intro animation on second launch",
        "disable the submit button while saving",
        "turn off the spinner after loading",
        "ignore case when comparing names",
        "fix the settings page crash",
        "add a config page for admins",
        "désactive le bouton pendant l'envoi",
        "desactiva el botón al enviar",
        "Deaktiviere den Knopf beim Speichern",
        "保存中禁用提交按钮",
    ] {
        for action in [&skip, &ignored, &unstrict] {
            assert!(!found(goal, action).is_empty(), "{goal}");
        }
    }
    for (goal, action) in [
        ("skip the flaky login test for now", &skip),
        ("désactive le test de connexion", &skip),
        ("跳过登录测试", &skip),
        ("ignore test failures in CI for the nightly job", &ignored),
        ("turn off strict mode in tsconfig", &unstrict),
        ("disable strict, we migrate step by step", &unstrict),
    ] {
        assert!(found(goal, action).is_empty(), "{goal}");
    }
}
