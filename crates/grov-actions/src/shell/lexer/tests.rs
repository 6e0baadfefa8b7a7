use super::*;
use proptest::prelude::*;

/// The events in short form: words in brackets, redirections with their operators, subshells in braces. Variables are
/// written `$name`, unknown pieces `?`.
fn shown(script: &str) -> String {
    let word = |word: &Word| {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) | Piece::Quoted(text) => text.clone(),
            Piece::Variable(name) => format!("${name}"),
            Piece::Unknown { .. } => "?".to_owned(),
        };
        word.pieces.iter().map(piece).collect::<String>()
    };
    let mut shown = String::new();
    for event in parse(script) {
        match event {
            Event::Enter(_) => shown.push('{'),
            Event::Leave => shown.push('}'),
            Event::Function { name, body } => shown.push_str(&format!("({name}: {})", body.trim())),
            Event::Command(command) => {
                let mut parts: Vec<String> = command.words.iter().map(word).collect();
                for redirection in &command.redirections {
                    let sign = match redirection.direction {
                        Direction::Read => "<",
                        Direction::Write => ">",
                        Direction::Append => ">>",
                        Direction::Duplicate => ">&",
                        Direction::HereDocument => "<<",
                        Direction::HereString => "<<<",
                    };
                    let body = redirection
                        .body
                        .as_ref()
                        .map(|body| format!("={body:?}"))
                        .unwrap_or_default();
                    parts.push(format!("{sign}{}{body}", word(&redirection.target)));
                }
                shown.push_str(&format!("[{}]", parts.join("|")));
            }
        }
    }
    shown
}

#[test]
fn scripts_are_split_as_by_a_shell() {
    let cases = [
        ("", ""),
        ("rm a b", "[rm|a|b]"),
        ("rm 'a b' \"c d\" e\\ f", "[rm|a b|c d|e f]"),
        ("echo \"a \\\"b\\\" \\n\"", "[echo|a \"b\" \\n]"),
        ("echo $'a\\'b'", "[echo|a'b]"),
        ("echo ''", "[echo|]"),
        ("a;b&&c||d|e&f\ng", "[a][b][c][d][e][f][g]"),
        ("a |& b", "[a][b]"),
        ("a \\\n  b", "[a|b]"),
        ("a # b ; c\nd#e", "[a][d#e]"),
        ("(a; b) && c", "{[a][b]}[c]"),
        ("{ a; b; }", "[{|a][b][}]"),
        ("echo $(a b) `c`", "{[a|b]}{[c]}[echo|?|?]"),
        ("echo \"$(a \"b c\")\"", "{[a|b c]}[echo|?]"),
        ("rm \"$(pwd)/x\"", "{[pwd]}[rm|$PWD/x]"),
        ("echo $((1 + (2 * 3))) x", "[echo|?|x]"),
        ("((i++)); b", "[b]"),
        ("for ((i=0;i<3;i++)); do a; done", "[for][do|a][done]"),
        ("echo $A/${B}c ${D:-$(e)} f", "{[e]}[echo|$A/$Bc|?|f]"),
        ("A=1 B=$C d", "[A=1|B=$C|d]"),
        ("A=(x y) b", "[A=|b]"),
        ("a > b 2> c >> d < e", "[a|>b|>c|>>d|<e]"),
        ("a 2>&1 >&2 &> b &>> c >| d", "[a|>&1|>&2|>b|>>c|>d]"),
        ("a2>b", "[a2|>b]"),
        ("a <<EOF\nx $y\nEOF\nb", "[a|<<EOF=\"x $y\\n\"][b]"),
        ("a <<-'E F' | b\n\tx\n\tE F\nc", "[a|<<E F=\"\\tx\\n\"][b][c]"),
        ("a <<X <<Y\n1\nX\n2\nY\n", "[a|<<X=\"1\\n\"|<<Y=\"2\\n\"]"),
        ("a <<EOF\nnever", "[a|<<EOF=\"never\"]"),
        ("a <<< 'b c'", "[a|<<<b c]"),
        ("diff <(a) <(b)", "{[a]}{[b]}[diff|?|?]"),
        ("[[ a > b && c ]] && d", "[[[|a|>|b|&&|c|]]][d]"),
        (
            "case $x in a|b) c;; *) d;; esac; e",
            "[case|$x|in|a][c][d][esac][e]",
        ),
        ("case $x in (a) c;; esac; d", "[c][esac][d]"),
        ("f() { a; }", "[{|a](f: a;)[}]"),
        ("rm !(*.rs)", "[rm|!(*.rs)]"),
        ("if a; then b; else c; fi", "[if|a][then|b][else|c][fi]"),
        ("( a ) > b", "{[a]}[>b]"),
        ("echo \"unclosed", "[echo|unclosed]"),
        ("echo 'unclosed", "[echo|unclosed]"),
        ("echo $(unclosed", "{[unclosed]}[echo|?]"),
        ("a )", "[a]"),
        ("echo $", "[echo|$]"),
        ("echo \\", "[echo]"),
        ("größe 'ä'", "[größe|ä]"),
    ];
    for (script, expected) in cases {
        assert_eq!(shown(script), expected, "{script}");
    }
}

#[test]
fn the_nesting_of_scripts_is_limited() {
    for opening in [
        "(",
        "( ",
        "$(",
        "`",
        "\"$(",
        "${",
        "$((",
        "((",
        "<(",
        "a=(",
        "{ ",
        "case x in ",
        "<<E ",
    ] {
        let script = opening.repeat(50_000);
        parse(&script);
        parse(&format!("{script} rm x"));
    }
    let script = format!("{}rm x{}", "( ".repeat(300), ")".repeat(300));
    assert!(
        parse(&script)
            .iter()
            .any(|event| matches!(event, Event::Command(_)))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn any_text_can_be_analyzed(script in any::<String>()) {
        parse(&script);
    }

    #[test]
    fn any_mixture_of_signs_can_be_read_and_is_balanced(script in "[a $(){}\\[\\]<>&|;'\"`\\\\\n#=!ü0-]{0,80}") {
        let mut depth = 0_i32;
        for event in parse(&script) {
            match event {
                Event::Enter(_) => depth += 1,
                Event::Leave => depth -= 1,
                Event::Command(_) | Event::Function { .. } => {}
            }
            prop_assert!(depth >= 0);
        }
        prop_assert_eq!(depth, 0);
    }
}
