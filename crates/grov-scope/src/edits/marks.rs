//! Marks in a line of code that skip a test or switch a check off: one table, by language.

use super::Weakening;
use super::counts::{active_tests, is_conditional};
use super::file_change::FileChange;
use super::language::Language;
use crate::file_kind::FileKind;
use Language::{C, CSharp, Dart, Elixir, Go, JavaScript, Jvm, Php, Python, Ruby, Rust, Settings, Swift};
use Weakening::{
    CertificatesUnchecked, ChecksOff, FailureIgnored, FocusesTests, LinesUnchecked, LowersCoverage,
    RemovesAssertions, RetriesTests, RulesOff, SafeguardOff, SkipsTests, TestsExcluded, TrivialAssertion,
};

/// Where in a line a mark is, and what else makes it one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the beginning, followed by anything.
    Start,
    /// At the beginning, followed by no letter: `@Disabled`, not `@DisabledOnOs`.
    StartWord,
    /// At the beginning, followed by a quotation mark: `test.skip('name'`, not `test.skip(isWindows, …)`.
    StartQuoted,
    /// At the beginning, unless the line or the one before is a condition.
    StartUnconditional,
    /// At the beginning, with any number of spaces between words.
    Aligned,
    /// The whole line.
    Whole,
    /// Anywhere.
    Anywhere,
}
use Place::{Aligned, Anywhere, Start, StartQuoted, StartUnconditional, StartWord, Whole};

/// A mark: its languages, what it does, where it is, and its spellings.
type Mark = (&'static [Language], Weakening, Place, &'static [&'static str]);

#[rustfmt::skip]
const MARKS: &[Mark] = &[
    // Skipped tests.
    (&[JavaScript], SkipsTests, Start, &[
        "it.skip(", "it.skip.each", "test.skip.each", "describe.skip(", "describe.skip.each", "context.skip(", "suite.skip(", "specify.skip(", "xit(", "xtest(",
        "xdescribe(", "xcontext(", "xspecify(", "Deno.test.ignore(", "it.fails(", "it.failing(", "test.failing(", "test.describe.skip(", "test.describe.fixme(",
    ]),
    (&[JavaScript], SkipsTests, StartQuoted, &["test.skip(", "test.fixme(", "test.fails(", "test.todo(", "it.todo("]),
    (&[JavaScript], SkipsTests, StartUnconditional, &["this.skip()", "t.skip(", "ctx.skip("]),
    (&[Python], SkipsTests, StartWord, &[
        "@pytest.mark.skip", "@unittest.skip", "@skip", "@pytest.mark.xfail", "@unittest.expectedFailure", "pytestmark = pytest.mark.skip", "@mark.skip",
    ]),
    (&[Python], SkipsTests, StartUnconditional, &[
        "pytest.skip(", "self.skipTest(", "raise unittest.SkipTest", "raise SkipTest", "pytest.xfail(",
    ]),
    (&[Python], SkipsTests, Start, &["collect_ignore", "__test__ = False"]),
    (&[Rust], SkipsTests, Start, &["#[ignore", "#[cfg(any())]", "#[cfg(FALSE)]"]),
    (&[Go], SkipsTests, StartUnconditional, &["t.Skip(", "t.Skipf(", "t.SkipNow(", "s.T().Skip(", "suite.T().Skip("]),
    (&[Go], SkipsTests, StartQuoted, &["Skip(", "PIt(", "XIt(", "PDescribe(", "XDescribe(", "PContext(", "XContext("]),
    (&[Jvm], SkipsTests, StartWord, &["@Ignore", "@Disabled"]),
    (&[Jvm], SkipsTests, Anywhere, &["@Test(enabled = false", "@Test(enabled=false", "assumeTrue(false", "assumeFalse(true", "@PendingFeature"]),
    (&[Jvm], SkipsTests, StartQuoted, &["xtest(", "xit(", "xdescribe(", "ignore("]),
    (&[CSharp], SkipsTests, StartWord, &["[Ignore", "[Explicit", "[Fact(Skip", "[Theory(Skip", "[Test, Ignore", "[Test, Explicit"]),
    (&[CSharp], SkipsTests, StartUnconditional, &["Assert.Ignore(", "Assert.Inconclusive("]),
    (&[Ruby], SkipsTests, Start, &["xit ", "xit(", "xdescribe ", "xcontext ", "xspecify ", "xscenario "]),
    (&[Ruby], SkipsTests, StartUnconditional, &["skip \"", "skip '", "skip(", "pending \"", "pending '", "pending("]),
    (&[Ruby], SkipsTests, Whole, &["skip", "pending"]),
    (&[Ruby], SkipsTests, Anywhere, &[", skip: true", ", :skip do", ", skip: \"", ", skip: '", ", pending: true", ", :pending do"]),
    (&[Php], SkipsTests, StartUnconditional, &["$this->markTestSkipped(", "self::markTestSkipped(", "$this->markTestIncomplete(", "static::markTestSkipped("]),
    (&[Php], SkipsTests, Anywhere, &["})->skip("]),
    (&[Swift], SkipsTests, StartUnconditional, &["throw XCTSkip("]),
    (&[Swift], SkipsTests, Anywhere, &["@Test(.disabled(", "XCTSkipIf(true", "func DISABLED_test", "func xtest", "func skip_test", "func disabled_test"]),
    (&[Elixir], SkipsTests, Start, &["@tag :skip", "@tag skip:", "@moduletag :skip", "@moduletag skip:", "@describetag :skip"]),
    (&[Dart], SkipsTests, Anywhere, &["skip: true", "skip: '", "skip: \"", "@Skip("]),
    (&[C], SkipsTests, StartUnconditional, &["GTEST_SKIP()", "TEST_IGNORE(", "TEST_IGNORE_MESSAGE(", "SKIP(\""]),
    (&[C], SkipsTests, Anywhere, &[", DISABLED_", "doctest::skip()", "boost::unit_test::disabled()", "[!mayfail]"]),
    (&[C], SkipsTests, Whole, &["#if 0"]),
    (&[Settings], TestsExcluded, Anywhere, &[
        "--deselect", "<skipTests>true", "<maven.test.skip>true", "-Dmaven.test.skip=true", "excludeTestsMatching", "PROPERTIES DISABLED", "<testFailureIgnore>true",
        "--ignore=tests/", "--ignore tests/", "-DskipTests", "--passWithNoTests", "--testPathIgnorePatterns",
    ]),
    (&[JavaScript, Settings], LowersCoverage, Anywhere, &["fail_under = 0", "fail_under=0", "--cov-fail-under=0", "lines: 0,", "branches: 0,"]),
    (&[JavaScript, Settings], TestsExcluded, Anywhere, &["testPathIgnorePatterns", "testIgnore:"]),
    // Tests and assertions in comments.
    (&[JavaScript, Dart], SkipsTests, Start, &["// it(", "//it(", "// test(", "//test(", "// describe(", "/* it(", "/* test(", "// it.each", "// test.each"]),
    (&[Python], SkipsTests, Start, &["# def test_", "#def test_", "# async def test_"]),
    (&[Rust], SkipsTests, Start, &["// #[test]", "//#[test]", "// #[tokio::test"]),
    (&[Go], SkipsTests, Start, &["// func Test", "//func Test"]),
    (&[Jvm, Swift], SkipsTests, Start, &["// @Test", "//@Test", "// func test"]),
    (&[CSharp], SkipsTests, Start, &["// [Fact", "//[Fact", "// [Test", "//[Test", "// [Theory"]),
    (&[Ruby], SkipsTests, Start, &["# it '", "# it \"", "# test '", "# test \"", "# def test_"]),
    (&[Php], SkipsTests, Start, &["// public function test", "//public function test", "// it('", "// test('"]),
    (&[Elixir], SkipsTests, Start, &["# test \""]),
    (&[C], SkipsTests, Start, &["// TEST(", "//TEST(", "// TEST_F(", "// TEST_CASE("]),
    (&[JavaScript, Dart, Go, Jvm, CSharp, Php, Swift, Rust, C], RemovesAssertions, Start, &[
        "// expect(", "//expect(", "// assert", "//assert", "// Assert.", "// $this->assert", "// XCTAssert", "// EXPECT_", "// ASSERT_", "// require.", "// t.Error", "// t.Fatal",
    ]),
    (&[Python, Ruby, Elixir], RemovesAssertions, Start, &["# assert ", "#assert ", "# self.assert", "# expect(", "# assert_"]),
    // Focused tests.
    (&[JavaScript], FocusesTests, Start, &["it.only(", "test.only(", "describe.only(", "context.only(", "fit(", "fdescribe(", "suite.only("]),
    (&[Ruby], FocusesTests, Start, &["fit ", "fdescribe ", "fcontext "]),
    (&[Go], FocusesTests, StartQuoted, &["FIt(", "FDescribe(", "FContext("]),
    // Retried tests.
    (&[JavaScript], RetriesTests, Anywhere, &["jest.retryTimes(", "this.retries(", "{ retry:", "{ retries:"]),
    (&[Python], RetriesTests, StartWord, &["@pytest.mark.flaky", "@flaky", "@retry"]),
    (&[Jvm], RetriesTests, StartWord, &["@RepeatedIfExceptionsTest", "@RetryingTest", "@Flaky", "@FlakyTest"]),
    (&[CSharp], RetriesTests, StartWord, &["[Retry"]),
    (&[Settings], RetriesTests, Anywhere, &["--reruns", "rerunFailingTestsCount", "--flaky_test_attempts", "nick-fields/retry"]),
    // Assertions that always hold.
    (&[JavaScript], TrivialAssertion, Start, &[
        "expect(true).toBe(true)", "expect(true).toBeTruthy()", "expect(true).toEqual(true)", "expect(1).toBe(1)", "assert(true)", "assert.ok(true)", "expect(true).to.be.true",
        "expect(true).to.equal(true)", "assert.equal(true, true)", "expect(1).toEqual(1)",
    ]),
    (&[Python], TrivialAssertion, Whole, &["assert True", "assert 1", "assert 1 == 1", "assert True is True", "self.assertTrue(True)", "assert not False"]),
    (&[Rust], TrivialAssertion, Start, &["assert!(true", "assert_eq!(1, 1)", "assert_eq!(true, true)"]),
    (&[Go], TrivialAssertion, Start, &["assert.True(t, true", "require.True(t, true"]),
    (&[Jvm], TrivialAssertion, Start, &["assertTrue(true)", "assertEquals(1, 1)", "assertThat(true).isTrue()", "assert(true)", "assert true", "Assertions.assertTrue(true)"]),
    (&[CSharp], TrivialAssertion, Start, &["Assert.True(true)", "Assert.IsTrue(true)", "Assert.Pass(", "true.Should().BeTrue()"]),
    (&[Ruby], TrivialAssertion, Start, &["expect(true).to be true", "expect(true).to be(true)", "expect(true).to eq(true)", "expect(true).to eq true", "assert true"]),
    (&[Php], TrivialAssertion, Start, &["$this->assertTrue(true)", "self::assertTrue(true)", "$this->addToAssertionCount(", "expect(true)->toBeTrue()"]),
    (&[Swift], TrivialAssertion, Start, &["XCTAssertTrue(true)", "XCTAssert(true)", "#expect(true)"]),
    (&[Elixir], TrivialAssertion, Whole, &["assert true", "assert 1 == 1"]),
    (&[Dart], TrivialAssertion, Start, &["expect(true, isTrue)", "expect(true, true)"]),
    (&[C], TrivialAssertion, Start, &["SUCCEED()", "EXPECT_TRUE(true)", "ASSERT_TRUE(true)", "REQUIRE(true)", "CHECK(true)", "assert(1)", "assert(true)"]),
    // Checks of a whole file.
    (&[JavaScript], ChecksOff, Anywhere, &["@ts-nocheck", "tslint:disable */", "biome-ignore-all", "istanbul ignore file", "v8 ignore file", "c8 ignore file"]),
    (&[JavaScript], ChecksOff, Whole, &["/* eslint-disable */", "/*eslint-disable*/", "// tslint:disable", "/* tslint:disable */", "/* oxlint-disable */"]),
    (&[Python], ChecksOff, Whole, &["# type: ignore", "# noqa", "# ruff: noqa", "# flake8: noqa", "# mypy: ignore-errors", "# mypy: ignore_errors", "# pyre-ignore-all-errors"]),
    (&[Python], ChecksOff, Start, &["# pylint: skip-file", "# pylint: disable=all", "# mypy: ignore-errors", "# mypy: ignore_errors", "# pytype: skip-file", "# pyright: ignore-all"]),
    (&[Rust], ChecksOff, Start, &["#![allow(warnings", "#![allow(clippy::all", "#![cfg_attr(clippy, allow", "#![allow(clippy::pedantic, clippy::all", "#![allow(unused, clippy::all"]),
    (&[Go], ChecksOff, Start, &["//lint:file-ignore"]),
    (&[Go], ChecksOff, Whole, &["//nolint", "// nolint", "//nolint:all"]),
    (&[Jvm], ChecksOff, Start, &[
        "@SuppressWarnings(\"all\")", "@SuppressWarnings({\"all\"", "@Suppress(\"ALL\")", "@file:Suppress(\"ALL\"", "// CHECKSTYLE:OFF", "// CHECKSTYLE.OFF", "//noinspection ALL",
        "/* ktlint-disable */", "@SuppressFBWarnings\n",
    ]),
    (&[CSharp], ChecksOff, Whole, &["#pragma warning disable", "#nullable disable"]),
    (&[Ruby], ChecksOff, Start, &["# rubocop:disable all", "# rubocop:disable Lint/all"]),
    (&[Php], ChecksOff, Anywhere, &["@phpstan-ignore-file", "phpcs:ignoreFile", "@codingStandardsIgnoreFile", "@psalm-suppress all"]),
    (&[Swift], ChecksOff, Start, &["// swiftlint:disable all"]),
    (&[Elixir], ChecksOff, Start, &["# credo:disable-for-this-file", "@compile :nowarn", "@dialyzer :no_match"]),
    (&[Dart], ChecksOff, Start, &["// ignore_for_file: type=lint", "// @dart=2.9"]),
    (&[C], ChecksOff, Start, &["#pragma GCC diagnostic ignored \"-Wall\"", "#pragma GCC diagnostic ignored \"-Weverything\"", "#pragma clang diagnostic ignored \"-Weverything\""]),
    (&[Language::Shell], ChecksOff, Start, &["# shellcheck disable=all"]),
    (&[Settings], ChecksOff, Anywhere, &[
        "\"--cap-lints\", \"allow\"", "--cap-lints allow", "-A warnings", "-Awarnings", "ignore_errors = true", "ignore_errors = True", "ignore-errors = true",
        "DisabledByDefault: true", "disable-all: true", "\"strict\": false", "\"noEmitOnError\": false", "<TreatWarningsAsErrors>false", "abortOnError false", "abortOnError = false",
        "ignoreFailures = true", "isIgnoreFailures = true", "<failOnViolation>false", "<failsOnError>false", "reportLevel: off",
    ]),
    // Warnings line by line.
    (&[JavaScript], LinesUnchecked, Anywhere, &["@ts-ignore", "// eslint-disable-line", "eslint-disable-next-line", "// @ts-expect-error"]),
    (&[Python], LinesUnchecked, Anywhere, &["# type: ignore", "# noqa", "# pylint: disable=", "# pyright: ignore"]),
    (&[Rust], LinesUnchecked, Start, &["#[allow(", "#![allow("]),
    (&[Go], LinesUnchecked, Anywhere, &["//nolint", "// nolint"]),
    (&[Jvm], LinesUnchecked, Anywhere, &["@SuppressWarnings(", "@Suppress(", "//noinspection ", "// NOSONAR"]),
    (&[CSharp], LinesUnchecked, Start, &["#pragma warning disable", "[SuppressMessage("]),
    (&[Ruby], LinesUnchecked, Anywhere, &["# rubocop:disable", "rubocop:todo"]),
    (&[Php], LinesUnchecked, Anywhere, &["@phpstan-ignore", "@psalm-suppress", "phpcs:ignore", "phpcs:disable"]),
    (&[C], LinesUnchecked, Anywhere, &["// NOLINT", "#pragma GCC diagnostic ignored", "#pragma clang diagnostic ignored"]),
    (&[Swift], LinesUnchecked, Anywhere, &["// swiftlint:disable"]),
    (&[Dart], LinesUnchecked, Anywhere, &["// ignore: "]),
    // Rules in the settings of a checker.
    (&[JavaScript, Settings], RulesOff, Anywhere, &["': 'off'", "\": \"off\"", "': \"off\"", "\": 'off'", ": off", "\": 0,", "': 0,"]),
    (&[Settings], RulesOff, Anywhere, &[
        "Enabled: false", "= \"allow\"", "\"noImplicitAny\": false", "\"strictNullChecks\": false", "disable_error_code", "allow_untyped_defs = true", "disallow_untyped_defs = false",
        "check_untyped_defs = false", "strict_optional = false", "ignoreErrors:", "extend-ignore", "<NoWarn>", "strict = false", "strict = False", "\"noUnusedLocals\": false",
        "\"exclude\": [", "exclude = ", "exclude: ", "Exclude:", "ignore = [", "exclude-dirs:", "exclude-rules:", "ignore_missing_imports = true", "follow_imports = skip",
    ]),
    (&[JavaScript, Settings], RulesOff, Anywhere, &["ignorePatterns", "ignores: ["]),
    // Failures that no longer count.
    (&[Settings], FailureIgnored, Anywhere, &["continue-on-error: true", "continueOnError: true", "allow_failure: true", "catchError(buildResult: 'SUCCESS'"]),
    // Certificates that are not verified.
    (&[JavaScript], CertificatesUnchecked, Anywhere, &["NODE_TLS_REJECT_UNAUTHORIZED", "rejectUnauthorized: false", "strictSSL: false"]),
    (&[Python], CertificatesUnchecked, Anywhere, &["verify=False", "verify_ssl=False", "ssl._create_unverified_context", "check_hostname = False", "ssl.CERT_NONE", "ssl=False"]),
    (&[Go], CertificatesUnchecked, Anywhere, &["InsecureSkipVerify: true", "InsecureSkipVerify = true"]),
    (&[Rust], CertificatesUnchecked, Anywhere, &["danger_accept_invalid_certs(true)", "danger_accept_invalid_hostnames(true)", "SslVerifyMode::NONE"]),
    (&[Jvm], CertificatesUnchecked, Anywhere, &["NoopHostnameVerifier", "TrustAllStrategy", "TrustSelfSignedStrategy", "ALLOW_ALL_HOSTNAME_VERIFIER"]),
    (&[CSharp], CertificatesUnchecked, Anywhere, &["DangerousAcceptAnyServerCertificateValidator", "ServerCertificateValidationCallback = (", "ServerCertificateCustomValidationCallback = (_"]),
    (&[Ruby], CertificatesUnchecked, Anywhere, &["VERIFY_NONE", "verify_ssl: false", "ssl_verify: false", "verify: false"]),
    (&[Php], CertificatesUnchecked, Anywhere, &["CURLOPT_SSL_VERIFYPEER, false", "CURLOPT_SSL_VERIFYPEER => false", "'verify' => false", "CURLOPT_SSL_VERIFYPEER, 0", "withoutVerifying()"]),
    (&[Elixir], CertificatesUnchecked, Anywhere, &["verify: :verify_none"]),
    (&[Dart], CertificatesUnchecked, Anywhere, &["badCertificateCallback ="]),
    (&[C], CertificatesUnchecked, Anywhere, &["CURLOPT_SSL_VERIFYPEER, 0", "SSL_VERIFY_NONE"]),
    (&[Settings, Language::Shell], CertificatesUnchecked, Anywhere, &["NODE_TLS_REJECT_UNAUTHORIZED", "strict-ssl=false", "GIT_SSL_NO_VERIFY", "insecure-skip-tls-verify: true", "PYTHONHTTPSVERIFY=0"]),
    // Safeguards of infrastructure.
    (&[Settings], SafeguardOff, Aligned, &["prevent_destroy = false", "deletion_protection = false", "deletion_protection_enabled = false"]),
];

/// How many suppressed lines are many.
const MANY_LINES: usize = 3;

/// The weakenings that marks in the added lines show.
pub(super) fn weakenings(change: &FileChange<'_>) -> Vec<Weakening> {
    let rows: Vec<&Mark> = MARKS
        .iter()
        .filter(|(languages, weakening, ..)| languages.contains(&change.language) && fits(*weakening, change))
        .collect();
    let mut counts = totals(&rows, &change.after);
    if counts.is_empty() {
        return Vec::new();
    }
    // Most edits have no marks, so the replaced text is searched only now.
    for (weakening, known) in totals(&rows, change.before.as_deref().unwrap_or_default()) {
        if let Some((_, count)) = counts.iter_mut().find(|(one, _)| *one == weakening) {
            *count -= known;
        }
    }
    let is_meant = |(weakening, count): &(Weakening, isize)| {
        *count > 0
            && match weakening {
                LinesUnchecked => count.unsigned_abs() >= MANY_LINES,
                SkipsTests | RetriesTests => !is_new_test(change, *count),
                _ => true,
            }
    };
    let meant = counts.into_iter().filter(is_meant);
    meant.map(|(weakening, _)| weakening).collect()
}

/// How often the marks of each weakening occur in a text, without those that do not.
fn totals(rows: &[&Mark], text: &str) -> Vec<(Weakening, isize)> {
    let mut totals: Vec<(Weakening, isize)> = Vec::new();
    for (_, weakening, place, spellings) in rows {
        let counts = spellings
            .iter()
            .map(|spelling| occurrences(text, spelling, *place));
        let count = counts.sum::<usize>().cast_signed();
        match totals.iter_mut().find(|(known, _)| known == weakening) {
            Some((_, total)) => *total += count,
            None if count > 0 => totals.push((*weakening, count)),
            None => {}
        }
    }
    totals
}

/// Whether a kind of mark counts in a file.
fn fits(weakening: Weakening, change: &FileChange<'_>) -> bool {
    let is_unknown_whole = change.is_whole && change.before.is_none();
    match weakening {
        // A new file may hold tests that do not run everywhere.
        SkipsTests | FocusesTests | RetriesTests | TrivialAssertion | TestsExcluded | RemovesAssertions => {
            // Rust has tests beside the code. In other code, `@Ignore` may be about a column of a table.
            let has_tests = FileKind::Test.is(change.place) || matches!(change.language, Rust | Settings);
            !change.is_new_file() && (has_tests || weakening == TestsExcluded)
        }
        // Tests may talk to servers with certificates of their own.
        CertificatesUnchecked => !FileKind::Test.is(change.place) && !change.language_is_settings_of_tests(),
        ChecksOff => {
            !is_generated(&change.after)
                && !(change.language == Settings && (change.is_new_file() || is_unknown_whole))
        }
        LinesUnchecked => {
            !is_generated(&change.after) && !FileKind::Test.is(change.place) && !change.is_whole
        }
        RulesOff => !change.is_whole && is_checker_settings(change),
        FailureIgnored => FileKind::Pipeline.is(change.place) && !change.is_new_file(),
        SafeguardOff => !change.is_new_file(),
        _ => true,
    }
}

impl FileChange<'_> {
    fn language_is_settings_of_tests(&self) -> bool {
        self.language == Settings && self.place.as_str().contains("test")
    }
}

/// Whether a text says that a tool generates it.
fn is_generated(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(600)];
    [
        "generated",
        "GENERATED",
        "Generated",
        "DO NOT EDIT",
        "do not edit",
    ]
    .iter()
    .any(|words| head.contains(words))
}

/// Whether a file configures a linter or a compiler.
fn is_checker_settings(change: &FileChange<'_>) -> bool {
    #[rustfmt::skip]
    const NAMES: &[&str] = &[
        "eslint", "tslint", "tsconfig", "jsconfig", "biome", "oxlint", "stylelint", "rubocop", "golangci", "clippy", "cargo.toml", "pyproject.toml", "setup.cfg", "mypy",
        "ruff", "flake8", "pylint", "pyright", "phpstan", "psalm", "phpcs", "detekt", "checkstyle", "pmd", "spotbugs", "swiftlint", "analysis_options", "credo", "ktlint",
        "editorconfig", "csproj", "directory.build", "sonar", "lint", "package.json",
    ];
    let name = change.place.name();
    NAMES.iter().any(|part| name.contains(part))
}

/// Whether the marks are of tests that the same edit adds.
fn is_new_test(change: &FileChange<'_>, marks: isize) -> bool {
    let Some(before) = change.before.as_deref() else {
        return false;
    };
    let added = active_tests(&change.after, change.language).cast_signed()
        - active_tests(before, change.language).cast_signed();
    added >= marks
}

/// How often a mark occurs in a text.
fn occurrences(text: &str, spelling: &str, place: Place) -> usize {
    let first = spelling.split(' ').next().filter(|_| place == Aligned);
    if !text.contains(first.unwrap_or(spelling)) {
        return 0;
    }
    let mut previous = "";
    let mut count = 0;
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            continue;
        }
        count += usize::from(is_at(line, previous, spelling, place));
        previous = line;
    }
    count
}

fn is_at(line: &str, previous: &str, spelling: &str, place: Place) -> bool {
    let rest = line.strip_prefix(spelling);
    match place {
        Start => rest.is_some(),
        StartWord => rest
            .is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')),
        StartQuoted => rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['\'', '"', '`', ')'])),
        StartUnconditional => rest.is_some() && !is_conditional(line, previous),
        Aligned => {
            line.split_whitespace()
                .zip(spelling.split(' '))
                .filter(|(word, known)| word == known)
                .count()
                == spelling.split(' ').count()
        }
        Whole => line.trim_end_matches([';', ',']) == spelling,
        Anywhere => line.contains(spelling),
    }
}
