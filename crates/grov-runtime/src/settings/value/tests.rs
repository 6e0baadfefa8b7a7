use super::*;
use proptest::prelude::*;

const SIZE: Kind = Kind::Size { min: 0, max: 1 << 40 };
const TIME: Kind = Kind::Duration { min_seconds: 0 };

fn toml(kind: Kind, text: &str) -> Result<Value, String> {
    let parsed = kind.parse_toml(DeValue::parse(text).unwrap().get_ref());
    parsed.map_err(|error| error.to_string())
}

#[test]
fn sizes_and_times_have_units() {
    for (text, bytes) in [
        ("0", 0),
        ("33554432", 1 << 25),
        ("32MiB", 1 << 25),
        ("32 mib", 1 << 25),
        ("5kB", 5000),
        ("7B", 7),
    ] {
        assert_eq!(SIZE.parse_text(text), Ok(Value::Size(bytes)), "{text}");
    }
    for (text, seconds) in [
        ("90", 90),
        ("90s", 90),
        ("15m", 900),
        ("24h", 86_400),
        ("30d", 2_592_000),
        ("0", 0),
    ] {
        assert_eq!(
            TIME.parse_text(text),
            Ok(Value::Duration(Duration::from_secs(seconds))),
            "{text}"
        );
    }
    for text in [
        "",
        "s",
        "-1s",
        "+1",
        "1.5h",
        "1x",
        "99999999999999999999",
        "18446744073709551615d",
        "1h30m",
        "4000d",
    ] {
        assert!(TIME.parse_text(text).is_err(), "{text}");
    }
}

#[test]
fn values_are_displayed_in_the_syntax_of_variables() {
    let shown = |kind: Kind, text: &str| kind.parse_text(text).unwrap().to_string();
    assert_eq!(shown(SIZE, "33554432"), "32MiB");
    assert_eq!(shown(SIZE, "1000"), "1000");
    assert_eq!(shown(TIME, "86400"), "1d");
    assert_eq!(shown(TIME, "90"), "90s");
    assert_eq!(shown(TIME, "0"), "0s");
    assert_eq!(shown(Kind::List, " a, b ,,c "), "a,b,c");
    assert_eq!(shown(Kind::Address, "LOCALHOST"), "127.0.0.1");
    assert_eq!(shown(Kind::Url, "https://u:p@h/x"), "https://h/x");
}

#[test]
fn log_levels_are_validated() {
    for text in ["info", "WARN", "warn,grov_store=debug", "off, a::b=trace"] {
        assert!(Kind::Levels.parse_text(text).is_ok(), "{text}");
    }
    for text in ["", "verbose", "grov=loud", "=info", "info,", "a b=info"] {
        assert!(Kind::Levels.parse_text(text).is_err(), "{text}");
    }
}

#[test]
fn toml_values_of_another_type_are_refused() {
    let port = Kind::Integer { min: 0, max: 65_535 };
    assert_eq!(toml(port, "0x1F90"), Ok(Value::Integer(8080)));
    assert_eq!(toml(port, "'8080'"), Err("the text \"8080\"".to_owned()));
    assert_eq!(toml(port, "65536"), Err("\"65536\"".to_owned()));
    assert_eq!(toml(port, "-1"), Err("-1".to_owned()));
    assert_eq!(toml(port, "1.5"), Err("a number with a fraction".to_owned()));
    assert_eq!(toml(Kind::Boolean, "true"), Ok(Value::Boolean(true)));
    assert_eq!(toml(Kind::Boolean, "1"), Err("the number 1".to_owned()));
    assert_eq!(toml(TIME, "30"), Ok(Value::Duration(Duration::from_secs(30))));
    assert_eq!(toml(TIME, "'30s'"), Ok(Value::Duration(Duration::from_secs(30))));
    assert_eq!(
        toml(Kind::List, "['a', 'b']"),
        Ok(Value::List(vec!["a".into(), "b".into()]))
    );
    assert_eq!(
        toml(Kind::List, "['a', 1]"),
        Err("a list that holds the number 1".to_owned())
    );
    assert_eq!(toml(Kind::Url, "{}"), Err("a section".to_owned()));
}

#[test]
fn errors_repeat_little_and_no_control_characters() {
    let error = Kind::Address
        .parse_text(&format!("\u{1b}[31m{}", "x".repeat(500)))
        .unwrap_err()
        .to_string();
    assert!(!error.contains('\u{1b}') && error.chars().count() < 80, "{error}");
    let error = Kind::Url
        .parse_text("https://user:pa55@")
        .unwrap_err()
        .to_string();
    assert!(!error.contains("pa55"), "{error}");
}

#[test]
fn dollars_are_parsed_to_the_millionth() {
    const DOLLARS: Kind = Kind::Dollars { max: 10_000 };
    for (text, amount, shown) in [
        ("0", 0, "0.00"),
        ("0.50", 500_000, "0.50"),
        ("1", 1_000_000, "1.00"),
        ("12.000001", 12_000_001, "12.000001"),
        ("10000", 10_000_000_000, "10000.00"),
    ] {
        let value = DOLLARS.parse_text(text);
        assert_eq!(value, Ok(Value::MicroDollars(amount)), "{text}");
        assert_eq!(value.unwrap().to_string(), shown);
    }
    for text in [
        "",
        ".",
        ".5",
        "1.",
        "-1",
        "+1",
        "1e3",
        "0.0000001",
        "10000.01",
        "nan",
        "inf",
        "$1",
        "1,5",
        "99999999999999999999",
    ] {
        assert!(DOLLARS.parse_text(text).is_err(), "{text}");
    }
    assert_eq!(toml(DOLLARS, "0.25"), Ok(Value::MicroDollars(250_000)));
    assert_eq!(toml(DOLLARS, "2"), Ok(Value::MicroDollars(2_000_000)));
    for text in ["'0.25'", "-0.25", "1e2", "nan", "0x10", "true"] {
        assert!(toml(DOLLARS, text).is_err(), "{text}");
    }
    assert_eq!(DOLLARS.parse_text("0.5").unwrap().to_json(), 0.5);
}

#[test]
fn a_secret_is_never_repeated() {
    let value = Kind::Secret.parse_text(" sk-hidden-1\n").unwrap();
    assert_eq!(value, Value::Secret(Secret::new("sk-hidden-1")));
    assert_eq!(
        format!("{value} {value:?} {}", value.to_json()),
        "set Secret([secret]) \"set\""
    );
    assert_eq!(Kind::Secret.unset().to_string(), "not set");
    for text in ["sk hidden", "sk-hidden\u{7}", "hiddén", ""] {
        let error = Kind::Secret.parse_text(text).unwrap_err().to_string();
        assert!(!error.contains("hidd"), "{error}");
    }
    for text in ["4711", "['hidden']", "{ hidden = 1 }", "1.25"] {
        let error = toml(Kind::Secret, text).unwrap_err();
        assert_eq!(error, "no text");
    }
}

proptest! {
    #[test]
    fn displayed_values_can_be_parsed_again(number in 0_u64..MAX_SECONDS) {
        for kind in [SIZE, TIME, Kind::Dollars { max: 1 << 30 }] {
            let value = kind.parse_text(&number.to_string()).unwrap();
            prop_assert_eq!(kind.parse_text(&value.to_string()), Ok(value));
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        for key in super::super::KEYS {
            let _ = key.kind.parse_text(&text);
        }
    }
}
