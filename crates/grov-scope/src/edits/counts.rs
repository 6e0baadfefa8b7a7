//! Counts tests and assertions before and after an edit.

use super::Weakening;
use super::file_change::FileChange;
use super::language::Language;
use crate::file_kind::FileKind;

/// The beginnings of lines that define a test.
#[rustfmt::skip]
fn definitions(language: Language) -> &'static [&'static str] {
    match language {
        Language::JavaScript => &["it(", "test(", "it.each", "test.each", "Deno.test(", "it.concurrent(", "test.concurrent(", "specify("],
        Language::Python => &["def test_", "async def test_", "def test("],
        Language::Rust => &["#[test]", "#[tokio::test", "#[rstest", "#[test_case", "#[async_std::test", "#[sqlx::test", "#[actix_web::test", "#[wasm_bindgen_test", "#[should_panic"],
        Language::Go => &["func Test", "func Fuzz", "It(\"", "t.Run("],
        Language::Jvm => &["@Test", "@ParameterizedTest", "@RepeatedTest", "@Property", "test(\"", "it(\"", "should(\"", "def \""],
        Language::CSharp => &["[Fact", "[Theory", "[Test]", "[TestCase", "[TestMethod", "[Test,"],
        Language::Ruby => &["it ", "it(", "test \"", "test '", "specify ", "def test_", "scenario "],
        Language::Php => &["public function test", "function test", "#[Test]", "it('", "it(\"", "test('", "test(\"", "* @test"],
        Language::Swift => &["func test", "@Test"],
        Language::Elixir => &["test \"", "property \""],
        Language::Dart => &["test(", "testWidgets(", "blocTest"],
        Language::C => &["TEST(", "TEST_F(", "TEST_P(", "TEST_CASE(", "BOOST_AUTO_TEST_CASE(", "SCENARIO(", "static void test_", "void test_", "int test_"],
        Language::Shell | Language::Settings | Language::Other => &[],
    }
}

/// Parts of a line that checks something.
#[rustfmt::skip]
const ASSERTIONS: &[&str] = &[
    "ssert", "expect", "EXPECT_", "ASSERT_", "should", "t.Error", "t.Fatal", "t.Fail", "require.", "REQUIRE", "CHECK", "verify", "refute", "must_", "ensure", "check_",
];

/// Parts of a test that runs for every row of a table.
#[rustfmt::skip]
const TABLES: &[&str] = &[
    ".each(", ".each`", "parametrize", "rstest", "#[case", "test_case", "ParameterizedTest", "[Theory", "InlineData", "[TestCase", "range tests", "range cases", "range tt",
    "range testCases", "t.Run(tc", "t.Run(tt", "t.Run(name", "for (const", "forEach(", ".each do", "subTest", "ataProvider", "where:", "@ValueSource", "@CsvSource", "@MethodSource",
    "INSTANTIATE_", "for case in", "for (", "for x in", "proptest!", "quickcheck", "@given", "fc.assert", "GENERATE(",
];

/// The tests that a text defines and that are not commented out.
pub(super) fn active_tests(text: &str, language: Language) -> usize {
    let definitions = definitions(language);
    let is_test = |line: &&str| definitions.iter().any(|begin| line.starts_with(begin));
    text.lines().map(str::trim_start).filter(is_test).count()
}

/// The lines that check something.
fn assertions(text: &str, language: Language) -> usize {
    let comments = language.comments();
    let lines = text.lines().map(str::trim_start);
    let active = lines.filter(|line| !comments.iter().any(|comment| line.starts_with(comment)));
    active
        .filter(|line| !is_import(line) && ASSERTIONS.iter().any(|part| line.contains(part)))
        .count()
}

fn is_import(line: &str) -> bool {
    [
        "import ", "from ", "use ", "using ", "require ", "#include", "const {",
    ]
    .iter()
    .any(|begin| line.starts_with(begin))
}

/// Whether a line is run under a condition.
pub(super) fn is_conditional(line: &str, previous: &str) -> bool {
    #[rustfmt::skip]
    const CONDITIONS: &[&str] = &["if ", "if(", "} else", "else", "elif ", "elsif ", "unless ", "except", "case ", "when ", "} catch", "catch", "rescue", "guard ", "match ", "switch "];
    let is_condition = |line: &str| CONDITIONS.iter().any(|begin| line.starts_with(begin));
    is_condition(previous)
        || previous.ends_with("->")
        || previous.ends_with("=>")
        || line.contains(" if ")
        || line.contains(" unless ")
        || is_condition(line)
}

/// Whether an edit removes tests or assertions without writing others: what is rewritten, moved within the edit or turned into a
/// table is not removed.
pub(super) fn weakenings(change: &FileChange<'_>) -> Option<Weakening> {
    let before = change.before.as_deref()?;
    let after: &str = &change.after;
    let language = change.language;
    // Outside of test files, `it(` and `test(` may be anything; Rust has tests beside the code.
    let is_test_file = FileKind::Test.is(change.place);
    if before.is_empty() || !language.is_code() || !is_test_file && language != Language::Rust {
        return None;
    }
    let lost = |count: fn(&str, Language) -> usize| {
        let (then, now) = (count(before, language), count(after, language));
        (then.saturating_sub(now), now)
    };
    let (tests, tests_left) = lost(active_tests);
    let (checks, checks_left) = lost(assertions);
    if tests == 0 && checks == 0 || becomes_table(before, after) || writes_checks(change) {
        return None;
    }
    if tests > 0 && (checks > 0 || tests_left == 0 && checks_left == 0) {
        return Some(Weakening::RemovesTests);
    }
    let is_gone = checks > 0 && checks_left == 0 || checks >= 2;
    (tests == 0 && is_gone && is_test_file).then_some(Weakening::RemovesAssertions)
}

/// Whether an edit writes tests or assertions that were not in the replaced text.
fn writes_checks(change: &FileChange<'_>) -> bool {
    let added = change.added().join("\n");
    active_tests(&added, change.language) > 0 || assertions(&added, change.language) > 0
}

/// Whether an edit brings a table of cases.
fn becomes_table(before: &str, after: &str) -> bool {
    TABLES
        .iter()
        .any(|part| after.contains(part) && !before.contains(part))
}
