//! Laws that hold for every command: quoting, wrapping and company change no verdict for the
//! better, and no text makes the guard fail or work without bound.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

mod rows;

use std::sync::OnceLock;

use callosum_guard::{Decision, Policy, Strictness, decide, explain};
use proptest::{
    prelude::{Just, Strategy, any, prop, prop_oneof},
    prop_assert, prop_assert_eq, proptest, sample,
};

use crate::rows::{Row, facts};

fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(rows::rows)
}

fn row() -> impl Strategy<Value = Row> {
    sample::select(rows())
}

/// A dangerous command of one line that is not itself a piece of something larger.
fn dangerous() -> impl Strategy<Value = Row> {
    let plain: Vec<Row> = rows()
        .iter()
        .filter(|row| row.expect != Decision::Allow)
        .filter(|row| {
            !row.command
                .contains(['\n', '#', '&', ';', '|', '<', '!', '(', '{', '=', '$', '\\'])
        })
        .filter(|row| {
            let first = row.command.split(' ').next().unwrap_or("");
            !matches!(
                first,
                "if" | "for"
                    | "while"
                    | "until"
                    | "case"
                    | "select"
                    | "function"
                    | "time"
                    | "coproc"
                    | "trap"
                    | "exec"
                    | "alias"
                    | "set"
                    | "read"
                    | ">"
                    | ":"
                    | "source"
                    | "."
            )
        })
        .cloned()
        .collect();
    assert!(plain.len() > 200, "{}", plain.len());
    sample::select(plain)
}

fn verdict(command: &str) -> Decision {
    decide(command, &facts(), &Policy::default()).decision
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Wrappers of a command: `@` is replaced with its words, `@q` with them as one text.
const WRAPPERS: &[&str] = &[
    "env @",
    "env -i PATH=/bin @",
    "env FOO=bar @",
    "command @",
    "command -p @",
    "nice -n 5 @",
    "nice -10 @",
    "nohup @",
    "setsid -w @",
    "stdbuf -oL -e 0 @",
    "ionice -c 3 @",
    "chronic -e @",
    "time -p @",
    "timeout 5 @",
    "timeout --preserve-status -k 5 10s @",
    "sudo -n @",
    "sudo -u root -- @",
    "doas -u root @",
    "systemd-run --user --wait --pipe @",
    "systemd-run --scope -p MemoryMax=1G @",
    "flock -n -E 0 /tmp/l @",
    "watch -n 1 -x @",
    "script -q /dev/null @",
    "script -q /dev/null -- @",
    "unshare -r @",
    "setpriv --no-new-privs @",
    "strace -f -o /dev/null @",
    "taskset -c 0 @",
    "chrt -i 0 @",
    "prlimit --nproc=100 @",
    "setarch -R @",
    "unbuffer @",
    "eatmydata @",
    "cpulimit -l 50 -- @",
    "xvfb-run -a @",
    "dbus-run-session -- @",
    "tini -- @",
    "logsave /tmp/log @",
    "mise exec -- @",
    "uv run -- @",
    "dotenv -- @",
    "screen -dm @",
    "find . -maxdepth 0 -exec @ \\;",
    "parallel --will-cite @q ::: ''",
    "bash -c @q",
    "sh -ec @q",
    "eval @q",
    "builtin eval @q",
    "env -S @q",
    "env -iS @q",
    "su -c @q",
    "flock /tmp/l -c @q",
    "script -q /dev/null -c @q",
    "script -qec @q",
    "watch -n 1 @q",
    "tmux new-session -d @q",
    "hyperfine @q",
];

/// The company of other commands; what is in it is read as a script of its own.
const COMPANY: &[&str] = &[
    "( @ )",
    "{ @; }",
    "FOO=bar @",
    "true && @",
    "@; true",
    "! @",
    "time -p @",
    "if true; then @; fi",
    "while @; do break; done",
    "for i in 1; do @; done",
    "case x in *) @;; esac",
    "f() { @; }; f",
    "coproc @",
    "exec @",
    "@ &",
    "@ | cat",
    "x=$( @ )",
    "cat <( @ )",
    "bash <<< @q",
    "echo @q | sh",
    "trap @q EXIT",
    "at now <<< @q",
];

/// Programs in other languages that run a command: `<words>` is replaced with its words, `<text>`
/// with them as one text, and behind `<program>` is a program in which `<string>` is the command as
/// a string of its language.
const PROGRAMS: &[&str] = &[
    "perl -e 'alarm shift; exec @ARGV' 60 <words>",
    "perl -e 'system @ARGV' <words>",
    "python3 -c 'import sys,subprocess; subprocess.run(sys.argv[1:], timeout=60)' <words>",
    "python3 -c 'import pty,sys; pty.spawn(sys.argv[1:])' <words>",
    "python3 -c 'import os,sys; os.execvp(sys.argv[1], sys.argv[1:])' <words>",
    "node -e 'require(\"child_process\").execFileSync(process.argv[1], process.argv.slice(2))' <words>",
    "ruby -e 'system(*ARGV)' <words>",
    "php -r 'system($argv[1]);' <text>",
    "python3 -c 'import os,sys; os.system(sys.argv[1])' <text>",
    "node -e 'require(\"child_process\").execSync(process.argv[1])' <text>",
    "printf '%s\\n' <text> | perl -ne 'system $_'",
    "printf '%s\\n' <text> | python3 -c 'import sys,os; [os.system(l) for l in sys.stdin]'",
    "python3 -c <program>import os; os.system(<string>)",
    "python3 -c <program>import subprocess; subprocess.run(<string>, shell=True, check=True)",
    "python3 -c <program>import subprocess; subprocess.run(['bash', '-c', <string>])",
    "python3 -c <program>import subprocess; subprocess.run(['bash'], input=<string>, text=True)",
    "python3 -c <program>from subprocess import *; Popen(['sh'], stdin=PIPE, text=True).communicate(<string>)",
    "python3 -c <program>import os, shlex; os.system(shlex.join(['sh', '-c', <string>]))",
    "node -e <program>require('child_process').execSync(<string>)",
    "node -e <program>const c = <string>; require('child_process').spawnSync('bash', ['-c', c])",
    "node -e <program>require('child_process').spawnSync('bash', {input: <string>})",
    "node -e <program>const p = require('child_process').spawn('sh'); p.stdin.end(<string>)",
    "deno eval <program>new Deno.Command('sh', {args: ['-c', <string>]}).outputSync()",
    "perl -e <program>system(<string>)",
    "perl -e <program>open(my $p, '|-', 'sh'); print $p <string>; close $p",
    "ruby -e <program>system(<string>)",
    "ruby -e <program>IO.popen('sh', 'w') { |f| f.puts <string> }",
    "php -r <program>shell_exec(<string>);",
    "php -r <program>$p = popen('sh', 'w'); fwrite($p, <string>); pclose($p);",
    "lua -e <program>os.execute(<string>)",
];

/// A command as a string of the language that a template is in.
fn string(template: &str, command: &str) -> String {
    if ["perl", "ruby", "php"]
        .iter()
        .any(|program| template.starts_with(program))
    {
        return format!("'{}'", command.replace('\\', r"\\").replace('\'', r"\'"));
    }
    serde_json::to_string(command).unwrap()
}

/// A command in one of these.
fn put_into(template: &str, command: &str) -> String {
    if let Some((program, source)) = template.split_once("<program>") {
        let source = source.replace("<string>", &string(template, command));
        return format!("{program}{}", single_quoted(&source));
    }
    if PROGRAMS.contains(&template) {
        let text = template.replace("<text>", &single_quoted(command));
        let text = text.replace("<words>", command);
        // A pipe is a script of its own.
        return if template.contains(" | ") {
            format!("bash -c {}", single_quoted(&text))
        } else {
            text
        };
    }
    let (before, with, behind) = match (template.split_once("@q"), template.split_once('@')) {
        (Some((before, behind)), _) => (before, single_quoted(command), behind),
        (None, Some((before, behind))) => (before, command.to_owned(), behind),
        (None, None) => unreachable!("{template}"),
    };
    let command = format!("{before}{with}{behind}");
    if COMPANY.contains(&template) {
        format!("bash -c {}", single_quoted(&command))
    } else {
        command
    }
}

/// CAKE-SHIM-1: each wrapper and each company is seen through.
#[test]
fn each_wrapper_is_seen_through() {
    let mut passed = Vec::new();
    for template in WRAPPERS.iter().chain(COMPANY).chain(PROGRAMS) {
        for command in ["git reset --hard", "rm -rf /", "git push -f origin main"] {
            let command = put_into(template, command);
            if verdict(&command) != Decision::Block {
                passed.push(command);
            }
        }
    }
    assert!(passed.is_empty(), "{passed:#?}");
}

proptest! {
    /// CAKE-SHIM-1: a wrapper, an assignment or company never makes a command pass.
    #[test]
    fn wrapping_never_turns_a_stop_into_a_pass(
        row in dangerous(),
        layers in prop::collection::vec(sample::select([WRAPPERS, COMPANY, PROGRAMS].concat()), 1..4),
    ) {
        let mut command = row.command.clone();
        for template in layers {
            command = put_into(template, &command);
        }
        let strict = verdict(&command);
        prop_assert!(strict >= row.expect,
            "{}: {} is {:?}, {} is {:?}", row.id, row.command, row.expect, command, strict);
    }

    /// CAKE-SHIM-1: how the words of a command are quoted changes nothing.
    #[test]
    fn quoting_changes_no_verdict(row in dangerous(), ways in prop::collection::vec(0u8..4, 1..8)) {
        let plain = row.command.chars().all(|c| c.is_alphanumeric() || " -_./:,@%+".contains(c));
        if !plain {
            return Ok(());
        }
        let words: Vec<String> = row
            .command
            .split_whitespace()
            .enumerate()
            .map(|(at, word)| match ways[at % ways.len()] {
                0 => word.to_owned(),
                1 => single_quoted(word),
                2 => format!("\"{word}\""),
                _ => {
                    let mut letters = word.chars();
                    let first = letters.next().unwrap_or_default();
                    format!("'{first}'{}", letters.as_str())
                }
            })
            .collect();
        let quoted = words.join("  ");
        prop_assert_eq!(verdict(&quoted), row.expect, "{}", quoted);
    }

    /// CAKE-SHIM-1: a text that is only printed passes, with any content.
    #[test]
    fn data_stays_data(row in row()) {
        if row.command.contains('\0') {
            return Ok(());
        }
        let quoted = single_quoted(&row.command);
        for command in [
            format!("echo {quoted}"),
            format!("git commit -m {quoted}"),
            format!("grep -F {quoted} notes.txt"),
            format!("cat <<'END_OF_TEXT'\n{}\nEND_OF_TEXT", row.command),
        ] {
            prop_assert_eq!(verdict(&command), Decision::Allow, "{}", command);
        }
    }

    /// CAKE-SHIM-1: stricter is never laxer.
    #[test]
    fn strictness_only_tightens(row in row()) {
        let by = |strictness| {
            let policy = Policy { strictness, ..Policy::default() };
            decide(&row.command, &facts(), &policy).decision
        };
        let (low, middle, high) =
            (by(Strictness::Minimal), by(Strictness::Balanced), by(Strictness::Paranoid));
        prop_assert!(low <= middle && middle <= high, "{}: {:?} {:?} {:?}", row.command, low, middle, high);
    }

    /// CAKE-SHIM-1: the same facts give the same verdict, and the explanation has the same one.
    #[test]
    fn an_explanation_has_the_verdict(row in row()) {
        let policy = Policy::default();
        let verdict = decide(&row.command, &facts(), &policy);
        prop_assert_eq!(&verdict, &decide(&row.command, &facts(), &policy));
        prop_assert_eq!(&verdict, &explain(&row.command, &facts(), &policy).verdict);
        let written = serde_json::to_string(&verdict).unwrap();
        prop_assert_eq!(serde_json::from_str::<callosum_guard::Verdict>(&written).unwrap(), verdict);
    }

    /// CAKE-SHIM-1: no text makes it fail.
    #[test]
    fn any_text_gets_a_verdict(text in prop_oneof![
        any::<String>(),
        "[ -~\n]{0,200}",
        "[(){}\\[\\]$`'\"<>|&;# \n\\\\a!*=~-]{0,120}",
    ]) {
        explain(&text, &facts(), &Policy::default());
    }

    /// CAKE-SHIM-1: nor does a command that was cut, doubled or changed in a place.
    #[test]
    fn damaged_commands_get_a_verdict(
        row in row(),
        other in row(),
        at in any::<sample::Index>(),
        to in any::<sample::Index>(),
        sign in prop_oneof![Just('\''), Just('"'), Just('('), Just(')'), Just('`'), Just('$'), Just('{'), Just('\\'), Just('\0'), any::<char>()],
    ) {
        let letters: Vec<char> = row.command.chars().collect();
        let cut = at.index(letters.len() + 1);
        let mut text: String = letters[..cut].iter().collect();
        text.push(sign);
        let more: Vec<char> = other.command.chars().collect();
        text.extend(&more[to.index(more.len() + 1)..]);
        explain(&text, &facts(), &Policy::default());
    }
}

/// CAKE-SHIM-1: a program whose last call is cut off gets a verdict.
#[test]
fn a_call_that_is_cut_off_gets_a_verdict() {
    for end in [
        "(",
        "(path.join(os.tmpdir(),\"x-\"",
        "(path.join(os.tmpdir()",
    ] {
        for function in [
            "fs.mkdtempSync",
            "tempfile.TemporaryDirectory",
            "Dir.mktmpdir",
        ] {
            let text = format!("node -e 'const d={function}{end}");
            explain(&text, &facts(), &Policy::default());
            explain(&format!("{text}'"), &facts(), &Policy::default());
        }
    }
}

/// CAKE-SHIM-1: what is too deep or too long is asked about, never allowed, and soon.
#[test]
fn beyond_the_bounds_a_person_is_asked() {
    for text in [
        "(".repeat(60_000),
        "$(".repeat(30_000),
        "`".repeat(60_001),
        "{ ".repeat(30_000),
        "$((".repeat(20_000),
        "${a:-".repeat(12_000),
        "${".repeat(30_000),
        format!("echo {}", "{".repeat(60_000)),
        format!("python3 -c '{}'", "f(".repeat(8_000)),
        "if ".repeat(20_000),
        "bash -c '".repeat(7_000),
        format!("{}rm -rf /", "eval ".repeat(10_000)),
        "a".repeat(10 * 1024 * 1024),
        "ls; ".repeat(16_000),
        "<<A ".repeat(16_000),
        format!("echo {}", "{a,b}".repeat(5_000)),
        format!("f(){{ {} }}; f", "f; f; ".repeat(5_000)),
        format!("fish -c 'set a x x; {}'", "set a $a $a; ".repeat(4_000)),
        format!("a=(x x); {}", "a=(\"${a[@]}\" \"${a[@]}\"); ".repeat(1_500)),
        format!(
            "x=ab; {} echo {}",
            "x=$x$x; ".repeat(60),
            "$x".repeat(20_000)
        ),
        format!("python3 -c 's=\"ab\"; {}'", "s=s+s; ".repeat(8_000)),
        "ln -s a b; ".repeat(5_000),
        format!("pwsh -c '{}'", "{ ".repeat(30_000)),
        format!("pwsh -c '{}'", "iex (".repeat(12_000)),
        format!("fish -c '{}'", "begin; ".repeat(8_000)),
        format!("fish -c '{}'", "(".repeat(60_000)),
    ] {
        let verdict = decide(&text, &facts(), &Policy::default());
        let open = &verdict.coverage.open;
        let bounded = open
            .iter()
            .any(|open| open.contains("deep") || open.contains("more than"));
        assert!(
            verdict.decision >= Decision::Ask || !bounded,
            "{}: {verdict:?}",
            &text[..20]
        );
    }
    let long = decide(&"a".repeat(10 * 1024 * 1024), &facts(), &Policy::default());
    assert_eq!(long.decision, Decision::Ask);
    for sign in ["(", "${"] {
        let deep = decide(&sign.repeat(30_000), &facts(), &Policy::default());
        assert_eq!(deep.decision, Decision::Ask, "{sign}");
    }
}

/// CAKE-SHIM-1: a permission lifts a question about these words, and never a block.
#[test]
fn a_block_wins_over_a_permission() {
    let policy = Policy {
        permissions: ["git branch -D *", "git reset --hard *"]
            .map(|pattern| callosum_guard::Permission::parse(pattern).unwrap())
            .to_vec(),
        ..Policy::default()
    };
    let by = |command: &str| decide(command, &facts(), &policy).decision;
    assert_eq!(by("git branch -D old"), Decision::Allow);
    assert_eq!(by("'git' \"branch\" -D old"), Decision::Allow);
    assert_eq!(by("git branch -D old; git stash drop"), Decision::Ask);
    assert_eq!(by("git branch -d -f old"), Decision::Ask);
    assert_eq!(by("git reset --hard HEAD"), Decision::Block);
}
