//! Facts of one kind in a text: the names, values and marks by which two versions of it are compared.

use super::kinds::{Construct, Kind, MarkScope};
use super::source::{code_of, defined_name};
use crate::constraints::written::setting_of;

/// The most lines of a text that are read.
const MAX_LINES: usize = 600;

/// The facts of one kind, in the order of the text.
pub(super) type Facts = Vec<String>;

/// Reads the facts of a kind from a text in a file with this extension.
pub(super) fn facts_of(kind: Kind, text: &str, extension: &str) -> Facts {
    let end = text
        .match_indices('\n')
        .nth(MAX_LINES)
        .map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    match kind {
        Kind::Heading => return text.lines().filter_map(heading).collect(),
        Kind::Text => return texts(text, extension),
        Kind::Order => return orders(text),
        Kind::Stylesheet => return styles(text, extension),
        Kind::PublicMacro if matches!(extension, "c" | "cc" | "cpp" | "cxx" | "m") => return Facts::new(),
        Kind::Construct(number) => return constructs(number, text, extension),
        _ => {}
    }
    let lines = code_of(text, extension);
    if kind == Kind::Recursion {
        return recursive(&lines);
    }
    let mut found = Facts::new();
    for line in &lines {
        match kind {
            Kind::Class => found.extend(defined_after(line, CLASSES)),
            Kind::Function => found.extend(function(line)),
            Kind::Test => found.extend(test(line)),
            Kind::Exit => found.extend(exit(line)),
            Kind::Status => found.extend(status(line)),
            Kind::Default => found.extend(default(line)),
            Kind::ErrorText => found.extend(texts_of_call(line, RAISING)),
            Kind::LogText => found.extend(texts_of_call(line, LOGGING)),
            Kind::LogLevel => found.extend(level(line)),
            Kind::Declaration => found.extend(declaration(line, extension)),
            Kind::Key => found.extend(setting_of(line).map(str::to_owned)),
            Kind::Visibility => found.extend(visible(line)),
            Kind::Import => found.extend(import(line)),
            Kind::Color => found.extend(color(line)),
            Kind::Sql => found.extend(sql(line)),
            Kind::Route => found.extend(super::aspects::route_line(line)),
            Kind::Secret => found.extend(logged(line)),
            Kind::Schema => found.extend(statement(line)),
            Kind::ThirdParty => found.extend(third_party(line, extension)),
            Kind::External => found.extend(external(line)),
            // The module of an import may be a text.
            _ if import(line).is_some() || line.starts_with('"') => found.extend(marks(line, marks_of(kind))),
            _ => found.extend(marks(&without_texts(line), marks_of(kind))),
        }
    }
    found
}

/// The marks of a construct of the table.
fn constructs(number: usize, text: &str, extension: &str) -> Facts {
    let Some(construct) = Construct::at(number) else {
        return Facts::new();
    };
    if !construct.extensions.is_empty() && !construct.extensions.contains(&extension) {
        return Facts::new();
    }
    if construct.scope == MarkScope::Text {
        return marks(text, &construct.marks);
    }
    let lines = code_of(text, extension);
    let of_line = |line: &String| {
        let is_plain = construct.scope == MarkScope::Line || import(line).is_some();
        let code = if is_plain {
            line.clone()
        } else {
            without_texts(line)
        };
        marks(&code, &construct.marks)
    };
    lines.iter().flat_map(of_line).collect()
}

/// Marks of constructs. A mark that begins or ends with a letter is no part of a longer word.
#[rustfmt::skip]
fn marks_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Async => &["async", "await", "CompletableFuture", "Promise", "suspend fun", "asyncio", "Task<", "Future<", ".then("],
        Kind::Thread => &[
            "Thread", "threading", "ThreadPoolExecutor", "ProcessPoolExecutor", "multiprocessing", "thread::spawn", "go func", "go ", "tokio::spawn", "asyncio.gather", "Promise.all", "Worker(",
            "ExecutorService", "Executors", "pthread_create", "std::thread", "std::async", "par_iter", "rayon", "Parallel.", "parallelStream", "GlobalScope", "DispatchQueue", "Task.Run", "concurrent", "errgroup", "WaitGroup",
        ],
        Kind::Regex => &["regexp", "regex", "re.compile", "re.match", "re.search", "re.sub", "re.findall", "re.split", "import re", "RegExp", "Regex", "preg_match", "preg_replace", "preg_split", "Pattern.compile", ".match(/", ".replace(/", ".test(", "=~", "std::regex"],
        Kind::Orm => &[
            "sqlalchemy", "SQLAlchemy", "jakarta.persistence", "javax.persistence", "hibernate", "@Entity", "EntityManager", "typeorm", "sequelize", "prisma", "PrismaClient", "mongoose", "gorm", "peewee", "tortoise",
            "diesel", "sea_orm", "ActiveRecord", "EntityFramework", "DbContext", "doctrine", "Doctrine", "mikro-orm", "drizzle", "spring-boot-starter-data-jpa", "JpaRepository", "objection", "knex",
        ],
        Kind::Retry => &["retry", "retries", "Retry", "retryTimes", "jest.retryTimes", "reruns", "flaky", "tenacity", "backoff", "@retry", "Retryable", "RetryTemplate", "attempts"],
        Kind::Skip => &[
            "xit", "xdescribe", "xtest", "it.skip", "test.skip", "describe.skip", "it.todo", "test.todo", "skip", "pending", "@Ignore", "@Disabled", "#[ignore", "pytest.mark.skip", "pytest.mark.xfail", "unittest.skip", "t.Skip", "Skip =", "markTestSkipped", "markTestIncomplete", "@skip", "xcontext", "fixme",
        ],
        Kind::Sleep => &["sleep", "Sleep", "usleep", "setTimeout", "delay", "waitForTimeout", "Thread.sleep", "time.sleep", "cy.wait", "Task.Delay"],
        Kind::Script => &["<script", "onclick=", "onload=", "addEventListener", "document.", "window."],
        Kind::Macro | Kind::PublicMacro => &["#define", "macro_rules!", "defmacro", "proc_macro", "@macro"],
        Kind::Global => &["global", "globals()", "globalThis", "window.", "static mut", "lazy_static!", "OnceLock", "getInstance", "$GLOBALS"],
        Kind::CatchAll => &["except Exception", "except BaseException", "except:", "catch (Exception", "catch (Throwable", "catch (...)", "rescue Exception", "rescue StandardError", "catch (\\Exception", "catch (\\Throwable", "catch(Exception", "rescue =>", "raise Exception(", "throw new Exception(", "throw new RuntimeException(", "throw Exception("],
        Kind::Environment | Kind::Hardcoded => &["process.env", "os.environ", "os.getenv", "getenv", "ENV[", "ENV.fetch", "env::var", "System.getenv", "Environment.GetEnvironmentVariable", "os.Getenv", "import.meta.env"],
        Kind::Http => &["requests.", "import requests", "fetch(", "axios", "http.get", "http.Get", "http.post", "urllib", "httpx", "aiohttp", "HttpClient", "XMLHttpRequest", "reqwest", "Net::HTTP", "curl_exec", "file_get_contents(http", "got(", "superagent", "OkHttpClient", "RestTemplate", "websocket", "WebSocket"],
        Kind::Loop => &["for", "while", "foreach", "loop", "forEach"],
        Kind::Ternary => &[" ? ", " if "],
        Kind::Nightly => &["#![feature", "+nightly", "nightly"],
        Kind::Mock => &["mock", "Mock", "MagicMock", "patch", "jest.fn", "vi.fn", "sinon", "mockk", "Mockito", "stub", "gomock", "mockall", "createMock", "spyOn"],
        Kind::Column => &["ADD COLUMN", "add column", "add_column", "AddField", "addColumn", "t.string", "t.integer", "t.boolean", "t.datetime", "Column("],
        Kind::Index => &["CREATE INDEX", "create index", "CREATE UNIQUE INDEX", "add_index", "AddIndex", "addIndex", "index=True", "index: true", "@@index", "createIndex", "Index("],
        Kind::Fixture => &["@pytest.fixture", "fixture", "beforeEach", "beforeAll", "setUp", "@Before", "@BeforeEach"],
        Kind::Root => &["USER root", "USER 0", "runAsUser: 0", "runAsNonRoot: false", "sudo"],
        Kind::Eval => &["eval", "exec(", "new Function", "instance_eval", "compile("],
        Kind::Drop => &["DROP TABLE", "DROP COLUMN", "DROP INDEX", "DROP CONSTRAINT", "drop table", "drop column", "DELETE FROM", "delete from", "TRUNCATE", "drop_table", "remove_column", "dropColumn", "dropTable", "RemoveField", "DeleteModel"],
        Kind::Reflection => &[
            "getDeclaredMethod", "getDeclaredField", "getDeclaredConstructor", "getMethod(", "setAccessible", "Class.forName", "java.lang.reflect", "reflect.", "System.Reflection", "GetType().", "getattr(", "setattr(", "instance_variable_get",
            "ReflectionClass", "Reflect.", "kotlin.reflect",
        ],
        Kind::Cast => &["static_cast", "reinterpret_cast", "const_cast", "dynamic_cast", "as unknown", "as any", "as!", "(int)", "(long)", "(float)", "(double)", "(char)", "(void *)", "(void*)", "typing.cast", "cast("],
        Kind::Forced => &["!.", "!)", "![", "try!", "as!", "!!"],
        Kind::Panic => &["panic!", "panic(", "unwrap()", "expect(", "unreachable!", "todo!", "unimplemented!"],
        Kind::Inheritance => &["extends", "super(", "super."],
        Kind::Allocation => &["malloc", "calloc", "realloc", "strdup", "make_unique", "make_shared", "Box::new", "Vec::new", "vec!", "String::from", "pvPortMalloc", "kmalloc"],
        _ => &[],
    }
}

/// The marks that a text has, each as often as it has them.
fn marks(text: &str, marks: &[&str]) -> Facts {
    let is_word =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let mut found = Facts::new();
    for mark in marks {
        let count = text
            .match_indices(mark)
            .filter(|(at, _)| {
                let opens = !is_word(mark.chars().next()) || !is_word(text[..*at].chars().next_back());
                let closes =
                    !is_word(mark.chars().next_back()) || !is_word(text[at + mark.len()..].chars().next());
                opens && closes
            })
            .count();
        found.extend(std::iter::repeat_n((*mark).to_owned(), count));
    }
    found
}

/// A line of code without what is between quotation marks.
fn without_texts(line: &str) -> String {
    let mut found = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['"', '\'', '`']) {
        let (before, quoted) = rest.split_at(at);
        found.push_str(before);
        let mark = &quoted[..1];
        match quoted[1..].find(mark) {
            Some(end) => {
                found.push_str(mark);
                found.push_str(mark);
                rest = &quoted[end + 2..];
            }
            None => {
                rest = quoted;
                break;
            }
        }
    }
    found.push_str(rest);
    found
}

/// The texts between quotation marks.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split(['"', '\'', '`']).skip(1).step_by(2)
}

const CLASSES: &[&str] = &[
    "class",
    "struct",
    "interface",
    "trait",
    "record",
    "enum",
    "object",
];
const FUNCTIONS: &[&str] = &["def", "defp", "fn", "func", "function", "fun", "sub", "procedure"];

/// The name after one of these words.
fn defined_after(line: &str, words: &[&str]) -> Option<String> {
    let mut parts = without_texts(line);
    parts.retain(|letter| letter != '\u{feff}');
    let mut before_name = parts.split_whitespace().peekable();
    // Modifiers stand before the word that defines.
    let mut read = 0;
    while let Some(part) = before_name.next() {
        read += 1;
        if words.contains(&part.trim_start_matches(['@', '#'])) {
            let name = before_name.next()?;
            let end = name
                .find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
                .unwrap_or(name.len());
            return (end > 0).then(|| name[..end].to_owned());
        }
        if read > 4 || part.contains(['(', '=', '{', '"']) && !part.starts_with("pub(") {
            return None;
        }
    }
    None
}

/// The name of a function that a line defines.
fn function(line: &str) -> Option<String> {
    let is_arrow = line.contains("=>") && (line.contains("const ") || line.contains("let "));
    let head = line.split('(').next().unwrap_or_default();
    let is_typed = line.trim_end().ends_with(['{', ')'])
        && line.contains('(')
        && !line.contains(['=', '"'])
        && !head.contains(':');
    let found = defined_after(line, FUNCTIONS);
    found.or_else(|| {
        (is_arrow || is_typed)
            .then(|| defined_name(line).map(str::to_owned))
            .flatten()
    })
}

/// The name of a test that a line defines.
fn test(line: &str) -> Option<String> {
    const CALLS: &[&str] = &["it(", "test(", "it '", "it \"", "specify ", "scenario "];
    let line = line.trim_start();
    if CALLS.iter().any(|call| line.starts_with(call)) {
        return quoted(line).next().map(str::to_owned);
    }
    defined_after(line, FUNCTIONS).filter(|name| name.to_lowercase().starts_with("test"))
}

/// The code with which a line exits.
fn exit(line: &str) -> Option<String> {
    const CALLS: &[&str] = &[
        "exit(",
        "Exit(",
        "exit ",
        "ExitCode",
        "exitCode",
        "process::exit",
        "exit_code",
        "returncode",
        "EXIT_",
        "ERR_",
        "errorCode",
        "error_code",
        "code:",
    ];
    let call = CALLS
        .iter()
        .find_map(|call| line.find(call).map(|at| &line[at..]))?;
    let digits: String = call.chars().filter(char::is_ascii_digit).collect();
    (!digits.is_empty()).then_some(digits)
}

/// The HTTP status of a line.
fn status(line: &str) -> Option<String> {
    let lower = line.to_lowercase();
    let at = lower.find("status").or_else(|| lower.find("http"))?;
    let rest = &lower[at..];
    let first = rest.find(|letter: char| letter.is_ascii_digit());
    Some(match first {
        Some(at) => rest[at..].chars().take_while(char::is_ascii_digit).collect(),
        None => rest.chars().take(40).collect(),
    })
}

/// A line that gives a default.
fn default(line: &str) -> Option<String> {
    let is_parameter = ["def ", "fn ", "function ", "func ", "fun "]
        .iter()
        .any(|word| line.contains(word))
        && line.contains('=')
        && line.contains('(');
    (line.to_lowercase().contains("default") || is_parameter).then(|| line.trim().to_owned())
}

const RAISING: &[&str] = &[
    "raise ",
    "throw ",
    "Error(",
    "Exception(",
    "error(",
    "errors.New(",
    "Errorf(",
    "bail!(",
    "anyhow!(",
    "panic!(",
    "fail(",
    "abort(",
    "expect(",
    "message:",
    "error =",
    "errors.",
];
const LOGGING: &[&str] = &[
    "log.", "logger.", "logging.", "LOG.", "log(", "info!(", "warn!(", "error!(", "debug!(", "console.",
    "slog.", "Log.",
];

/// The texts that a line with one of these calls has.
fn texts_of_call(line: &str, calls: &[&str]) -> Vec<String> {
    match calls.iter().any(|call| line.contains(call)) {
        true => quoted(line)
            .filter(|text| text.len() > 1)
            .map(str::to_owned)
            .collect(),
        false => Vec::new(),
    }
}

/// The log level that a line sets.
fn level(line: &str) -> Option<String> {
    let lower = line.to_lowercase();
    const LEVELS: &[&str] = &[
        "trace", "debug", "info", "warn", "warning", "error", "critical", "fatal",
    ];
    // `log.debug(`, `logger.warn(`, `console.error(`
    let calls = ["log", "logger", "logging", "console", "slog"];
    let called = calls.iter().find_map(|call| {
        let at = lower.find(&format!("{call}."))?;
        let name = lower[at + call.len() + 1..].split('(').next()?;
        LEVELS.contains(&name).then(|| name.to_owned())
    });
    if called.is_some() {
        return called;
    }
    let sets = lower.contains("level") || lower.contains("loglevel") || lower.contains("verbosity");
    let level = ["trace", "debug", "info", "warn", "error", "critical", "fatal"]
        .iter()
        .find(|level| lower.contains(**level))?;
    sets.then(|| (*level).to_owned())
}

/// A line that declares a member and its type.
fn declaration(line: &str, extension: &str) -> Option<String> {
    let line = line.trim().trim_end_matches([',', ';', '{']).trim_end();
    let typed = line.split_once(':').filter(|(name, of)| {
        let name = name.trim().trim_end_matches('?');
        let is_name = |letter: char| letter.is_alphanumeric() || " _$".contains(letter);
        let is_type = |letter: char| letter.is_alphanumeric() || " _$<>[]|&?.,".contains(letter);
        !name.is_empty()
            && name.len() < 60
            && name.chars().all(is_name)
            && !of.trim().is_empty()
            && of.chars().all(is_type)
    });
    let has_types = matches!(
        extension,
        "ts" | "tsx" | "d.ts" | "vue" | "kt" | "rs" | "swift" | "proto" | "graphql" | "py" | "dart"
    );
    if typed.is_some() && has_types {
        return Some(line.to_owned());
    }
    let is_method = matches!(
        extension,
        "java" | "cs" | "kt" | "php" | "go" | "ts" | "cpp" | "h" | "hpp"
    ) && line.ends_with(')')
        && !line.contains(['=', '.'])
        && line.split('(').next().is_some_and(|head| {
            head.split_whitespace().count() >= 2 && !head.trim_start().starts_with("return")
        });
    let is_type = [
        "interface ",
        "type ",
        "export interface ",
        "export type ",
        "public interface ",
    ]
    .iter()
    .any(|begin| line.starts_with(begin));
    (is_method || is_type).then(|| line.to_owned())
}

/// A line that others can see.
fn visible(line: &str) -> Option<String> {
    let begins = ["pub ", "public ", "export ", "open "];
    begins
        .iter()
        .find(|begin| line.starts_with(**begin))
        .map(|begin| (*begin).to_owned())
}

/// What a line imports.
fn import(line: &str) -> Option<String> {
    let begins = [
        "import ",
        "from ",
        "use ",
        "using ",
        "#include",
        "require ",
        "require_once",
        "@import",
    ];
    let imports = begins.iter().any(|begin| line.starts_with(begin)) || line.contains("require(");
    imports.then(|| line.trim_end_matches(';').to_owned())
}

/// A color by its value.
fn color(line: &str) -> Option<String> {
    let hex = line.match_indices('#').any(|(at, _)| {
        let digits = line[at + 1..].chars().take_while(char::is_ascii_hexdigit).count();
        matches!(digits, 3 | 4 | 6 | 8)
    });
    let is_plain = [
        "Color(0x",
        "Colors.",
        "UIColor",
        "NSColor",
        "Color.FromArgb",
        "Color.rgb",
        "oklch(",
        "\\033[",
        "\\x1b[",
        "\\u001b[",
        "\\e[",
        "chalk",
        "termcolor",
        "colorama",
        "fatih/color",
        "colored(",
    ]
    .iter()
    .any(|mark| line.contains(mark))
        || line.contains("rgb(")
        || line.contains("rgba(")
        || line.contains("hsl(");
    (hex || is_plain).then(|| "color".to_owned())
}

/// A line that logs a value with the name of personal data or of a password.
fn logged(line: &str) -> Option<String> {
    const NAMES: &[&str] = &[
        "password", "passwd", "pwd", "token", "secret", "email", "e_mail", "mail", "ssn", "phone", "address",
        "iban", "birth",
    ];
    let code = without_texts(line).to_lowercase();
    let at = LOGGING
        .iter()
        .chain(&["print(", "println", "printf(", "puts "])
        .find_map(|call| code.find(&call.to_lowercase()))?;
    // A template holds values between braces.
    let template = line.to_lowercase();
    let held = template
        .split(['{', '}'])
        .skip(1)
        .step_by(2)
        .any(|value| NAMES.iter().any(|name| value.contains(name)));
    (held || NAMES.iter().any(|name| code[at..].contains(name))).then(|| line.trim().to_owned())
}

/// The lines of a style sheet, and those that style in place.
fn styles(text: &str, extension: &str) -> Facts {
    let is_sheet = matches!(extension, "css" | "scss" | "sass" | "less" | "styl");
    let is_style = |line: &&str| {
        !line.trim().is_empty() && (is_sheet || line.contains("style=") || line.contains("<style"))
    };
    text.lines()
        .filter(is_style)
        .map(|line| line.trim().to_owned())
        .collect()
}

/// A statement of SQL in a text, or a call that takes one.
fn sql(line: &str) -> Option<String> {
    let lower = line.to_lowercase();
    let is_statement = [
        "select ",
        "insert into ",
        "update ",
        "delete from ",
        "alter table",
    ]
    .iter()
    .any(|word| lower.contains(word))
        && lower.contains(['"', '\'', '`']);
    let is_call = [
        ".raw(",
        "find_by_sql",
        "connection.execute",
        "executequery",
        "createnativequery",
        "db::raw",
        "db::select",
        "$queryraw",
        "exec_query",
        "rawquery",
        "sql.raw",
        "fromsqlraw",
    ]
    .iter()
    .any(|call| lower.contains(call));
    (is_statement || is_call).then(|| "sql".to_owned())
}

/// A resource of another host.
fn external(line: &str) -> Option<String> {
    let loads = ["src=", "href=", "@import", "url("]
        .iter()
        .any(|word| line.contains(word));
    let is_resource = line.contains("<link")
        || line.contains("<script")
        || line.contains("@import")
        || line.contains("url(");
    (loads && is_resource && (line.contains("//"))).then(|| "external".to_owned())
}

/// A statement that changes a schema.
fn statement(line: &str) -> Option<String> {
    const STATEMENTS: &[&str] = &[
        "create table",
        "create index",
        "create unique index",
        "alter table",
        "drop table",
        "drop index",
        "drop column",
        "add column",
        "create view",
        "add_column",
        "add_index",
        "create_table",
        "remove_column",
        "addfield",
        "alterfield",
        "createmodel",
        "create type",
        "alter type",
        "t.string",
        "t.integer",
        "t.datetime",
        "t.boolean",
        "rename_column",
    ];
    let lower = line.to_lowercase();
    STATEMENTS
        .iter()
        .find(|statement| lower.contains(**statement))
        .map(|statement| (*statement).to_owned())
}

/// The first part of a module that an import of Python names, unless it is of the standard library or of the project.
fn third_party(line: &str, extension: &str) -> Option<String> {
    if extension != "py" {
        return None;
    }
    let rest = line
        .strip_prefix("import ")
        .or_else(|| line.strip_prefix("from "))?;
    let name = rest.split([' ', '.', ',']).next()?;
    LIBRARIES.contains(&name).then(|| name.to_owned())
}

/// Modules of well-known packages of Python. Others may be the project's own.
#[rustfmt::skip]
const LIBRARIES: &[&str] = &[
    "aiohttp", "arrow", "attr", "bs4", "boto3", "celery", "click", "cryptography", "dateutil", "django", "dotenv", "fastapi", "flask", "fuzzywuzzy", "httpx", "jinja2", "joblib", "loguru", "lxml", "matplotlib", "msgpack", "networkx", "nltk",
    "numpy", "openpyxl", "orjson", "paramiko", "pandas", "pendulum", "PIL", "polars", "psutil", "psycopg2", "pyarrow", "pydantic", "pymysql", "pytz", "rapidfuzz", "redis", "regex", "requests", "rich", "ruamel", "scipy", "seaborn", "simplejson",
    "sklearn", "sqlalchemy", "tabulate", "tenacity", "toml", "tomli", "torch", "tqdm", "typer", "ujson", "xlrd", "xlsxwriter", "yaml",
];

/// A heading of a document.
fn heading(line: &str) -> Option<String> {
    let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ')
        || line.starts_with("== ")
        || line.starts_with("<h");
    is_heading.then(|| line.trim().to_owned())
}

/// What people read: texts between tags and, of code, between quotation marks.
fn texts(text: &str, extension: &str) -> Facts {
    let is_markup = matches!(
        extension,
        "html"
            | "htm"
            | "vue"
            | "svelte"
            | "jsx"
            | "tsx"
            | "erb"
            | "twig"
            | "hbs"
            | "mjml"
            | "ejs"
            | "php"
            | "jsp"
            | "cshtml"
            | "xml"
    );
    let is_prose = |text: &str| {
        text.trim()
            .chars()
            .filter(|letter| letter.is_alphabetic())
            .count()
            >= 2
    };
    let mut found = Facts::new();
    for line in text.lines() {
        if is_markup {
            let between = line.split('>').skip(1).filter_map(|part| part.split('<').next());
            found.extend(
                between
                    .filter(|text| is_prose(text) && !text.contains(['{', '=', ';']))
                    .map(|text| text.trim().to_owned()),
            );
            if !line.contains(['<', '>'])
                && line.contains(' ')
                && !line.contains(['{', '}', '=', ';', '('])
                && is_prose(line)
            {
                found.push(line.trim().to_owned());
            }
        }
        let has_words = |text: &&str| {
            text.trim().contains(' ') && is_prose(text) && !text.contains(['/', '<', '{', '=', '$'])
        };
        found.extend(
            quoted(line)
                .filter(|_| !is_markup || !line.contains('<') || line.contains("aria-"))
                .filter(has_words)
                .map(str::to_owned),
        );
    }
    found
}

/// How a text orders: its sort expressions, and the sequences of its words.
fn orders(text: &str) -> Facts {
    let mut found = Facts::new();
    for line in text.lines() {
        let lower = line.to_lowercase();
        for mark in [
            "order by",
            "orderby(",
            "order_by(",
            ".sort(",
            "sorted(",
            ".sort_by",
            "sortby(",
            ".reverse(",
        ] {
            found.extend(lower.find(mark).map(|at| lower[at..].trim().to_owned()));
        }
        let words = lower
            .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
            .filter(|word| !word.is_empty());
        let mut sorted: Vec<&str> = words.clone().collect();
        // The words in order, under the words that they are: a line with the same ones in another order differs.
        if sorted.len() > 2 && lower.contains(',') && lower.contains(['[', '(', '{']) {
            let list: Vec<&str> = words.collect();
            sorted.sort_unstable();
            found.push(format!("{} < {}", list.join(" "), sorted.join(" ")));
        }
    }
    // A line that got more words is another list, and not another order.
    found
}

/// The functions that call themselves.
fn recursive(lines: &[String]) -> Facts {
    let mut found = Facts::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function(line).filter(|name| name.len() > 1) else {
            continue;
        };
        let call = format!("{name}(");
        let calls = lines[at + 1..]
            .iter()
            .take_while(|line| function(line).is_none())
            .any(|line| {
                line.match_indices(call.as_str()).any(|(at, _)| {
                    !line[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_')
                })
            });
        if calls {
            found.push(name);
        }
    }
    found
}
