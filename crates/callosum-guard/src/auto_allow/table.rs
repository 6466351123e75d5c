//! Built-in programs that only read, or write what [`path`](super::path) permits: a table of the options that are known
//! of each, and [`read`], which reads words by it.
//!
//! To add a program, add a row. An option that is not in its row is refused, and so is one that a program would take as
//! the beginning of a longer one.

use super::{AllowRefusal, refused_word};

/// Programs that run the words that follow, or text that they are given, and commands of the shell's that change what
/// follows. None of them can be listed.
pub(super) const RUNNERS: [&str; 63] = [
    ".",
    "alias",
    "builtin",
    "cd",
    "chroot",
    "chrt",
    "command",
    "coproc",
    "declare",
    "doas",
    "docker",
    "enable",
    "entr",
    "env",
    "eval",
    "exec",
    "export",
    "find",
    "flock",
    "hash",
    "ionice",
    "kubectl",
    "let",
    "local",
    "mapfile",
    "nerdctl",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "podman",
    "popd",
    "printf",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "rsh",
    "runuser",
    "script",
    "set",
    "setarch",
    "setopt",
    "setsid",
    "shopt",
    "source",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "sudoedit",
    "time",
    "timeout",
    "trap",
    "typeset",
    "unalias",
    "unset",
    "unshare",
    "watch",
    "xargs",
    "zmodload",
];

/// Shells, which can only be listed with a script.
pub(super) const SHELLS: [&str; 10] = [
    "ash", "bash", "busybox", "dash", "fish", "ksh", "pwsh", "sh", "tcsh", "zsh",
];

/// Use that a program makes of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operands {
    /// It takes none.
    None,
    /// They are text.
    Text,
    /// It shows names, sizes or kinds of these.
    Names,
    /// It shows what is in these.
    Read,
    /// It shows what is in the first, and would write the second.
    ReadOne,
    /// The first is a pattern unless an option gave one; it shows what is in the others.
    Search,
    /// The first is a pattern; it shows names of the others.
    SearchNames,
    /// It creates or changes these, but not what is in them.
    Own,
    /// It writes these.
    Write,
}

/// A program and the options that are known of it.
pub(super) struct Program {
    /// Its names.
    pub(super) names: &'static str,
    /// Letters of options without a value.
    pub(super) flags: &'static str,
    /// Letters of options with a value.
    pub(super) values: &'static str,
    /// Long options whose value, if any, follows `=`.
    pub(super) long: &'static str,
    /// Long options whose value may be the next word.
    pub(super) long_values: &'static str,
    /// Whether a number is an option: `head -20`.
    pub(super) numbers: bool,
    pub(super) operands: Operands,
}

const fn program(
    names: &'static str,
    [flags, values, long, long_values]: [&'static str; 4],
    operands: Operands,
) -> Program {
    Program {
        names,
        flags,
        values,
        long,
        long_values,
        numbers: false,
        operands,
    }
}

impl Program {
    const fn with_numbers(self) -> Program {
        Program {
            numbers: true,
            ..self
        }
    }
}

use Operands::{Names, None as Nothing, Own, Read, ReadOne, Search, SearchNames, Text, Write};

/// Options of `grep`, without patterns out of files and without following links.
const GREP: [&str; 4] = [
    "EFGPivwxcLlnHhoqsrabyUzT",
    "emABC",
    "count color colour ignore-case no-ignore-case line-number files-with-matches files-without-match \
     only-matching recursive word-regexp line-regexp extended-regexp fixed-strings basic-regexp perl-regexp \
     invert-match no-filename with-filename quiet silent no-messages text binary-files null include exclude \
     exclude-dir line-buffered initial-tab byte-offset help version",
    "regexp max-count context after-context before-context include exclude exclude-dir",
];

/// Options of `rg`, without those that run a program (`--pre`, `-z`) or read settings from files.
const RIPGREP: [&str; 4] = [
    "inwlcvSsoFUxNHIaqpP.u",
    "eABCmgtTMjdrE",
    "files files-with-matches files-without-match count count-matches ignore-case smart-case case-sensitive \
     fixed-strings word-regexp line-regexp line-number no-line-number no-heading heading color multiline \
     multiline-dotall only-matching sort sortr stats json vimgrep trim passthru hidden no-hidden no-ignore \
     no-ignore-vcs type-list pcre2 no-messages no-filename with-filename null glob-case-insensitive crlf text \
     invert-match quiet pretty column no-column max-columns-preview unrestricted debug version help",
    "glob iglob type type-not max-count max-depth max-columns context after-context before-context replace \
     regexp encoding threads max-filesize",
];

#[rustfmt::skip]
pub(super) const PROGRAMS: &[Program] = &[
    program("ls exa eza", ["aAlhrtSRd1FGiskncCxXUopgqQmNbBvuZfT", "I", "all almost-all human-readable recursive reverse size directory classify no-group inode color group-directories-first sort time time-style full-time si hide ignore indicator-style numeric-uid-gid tree level git long help version", ""], Names),
    program("cat", ["AbEnstTuve", "", "show-all number number-nonblank squeeze-blank show-ends show-tabs show-nonprinting", ""], Read),
    program("bat batcat", ["pnA", "rl", "plain number style color paging", "line-range language"], Read),
    program("head", ["qvz", "nc", "quiet silent verbose zero-terminated lines bytes", "lines bytes"], Read).with_numbers(),
    program("tail", ["qvz", "nc", "quiet silent verbose zero-terminated lines bytes", "lines bytes"], Read).with_numbers(),
    program("wc", ["lwcmL", "", "lines words bytes chars max-line-length", ""], Read),
    program("nl", ["p", "bdfhilnsvw", "body-numbering number-width number-format starting-line-number", ""], Read),
    program("tac rev", ["", "", "", ""], Read),
    program("cut", ["sz", "bcdf", "complement only-delimited zero-terminated bytes characters delimiter fields output-delimiter", "bytes characters delimiter fields output-delimiter"], Read),
    program("paste", ["sz", "d", "serial zero-terminated delimiters", "delimiters"], Read),
    program("tr", ["cCdst", "", "complement delete squeeze-repeats truncate-set1", ""], Text),
    program("sort", ["bdfghiMnRrVzucms", "kt", "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort month-sort numeric-sort random-sort reverse version-sort zero-terminated unique check merge stable key field-separator", "key field-separator"], Read),
    program("uniq", ["cdDiuz", "fsw", "count repeated ignore-case unique zero-terminated skip-fields skip-chars check-chars", ""], ReadOne),
    program("comm", ["123z", "", "check-order nocheck-order total output-delimiter", ""], Read),
    program("join", ["iz", "12aeojtv", "header ignore-case", ""], Read),
    program("fold fmt", ["bsuct", "w", "width", "width"], Read).with_numbers(),
    program("expand unexpand", ["ai", "t", "initial all tabs", ""], Read),
    program("column", ["tnex", "csNRHTWo", "table", "separator output-separator"], Read),
    program("od", ["abcdfhiloxvs", "AjNStw", "address-radix skip-bytes read-bytes format width", ""], Read),
    program("hexdump hd", ["bcCdoxv", "ns", "canonical", ""], Read),
    program("xxd", ["abeEipuC", "cglos", "", ""], ReadOne),
    program("strings", ["a", "nt", "all bytes radix", ""], Read),
    program("base64", ["di", "w", "decode ignore-garbage wrap", ""], Read),
    program("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum shasum", ["bt", "a", "binary text tag zero", ""], Read),
    program("diff", ["abBcdEeinNpqrstTuvwyZ", "CUFIWx", "brief unified context side-by-side recursive new-file ignore-all-space ignore-space-change ignore-blank-lines ignore-case color exclude label report-identical-files minimal suppress-common-lines width text strip-trailing-cr", "exclude label unified context width"], Read).with_numbers(),
    program("cmp", ["bls", "in", "print-bytes verbose quiet silent bytes ignore-initial", ""], Read),
    program("file", ["bhiLNrs0", "F", "brief mime mime-type mime-encoding no-dereference dereference", ""], Names),
    program("stat", ["Lftx", "c", "dereference file-system terse format printf", "format printf"], Names),
    program("du", ["abchklmsxDHS0", "dtB", "all apparent-size bytes total human-readable summarize one-file-system max-depth threshold exclude block-size time", "max-depth threshold exclude"], Names),
    program("df", ["ahHiklPT", "txB", "all human-readable inodes local portability type print-type exclude-type output total", ""], Names),
    program("tree", ["adfCnpsughDFqNQitrUvJXS", "LIP", "dirsfirst noreport prune gitignore filelimit charset si du ignore-case matchdirs filesfirst sort", ""], Names),
    program("realpath readlink", ["efmnqsvzLP", "", "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent relative-to relative-base strip no-symlinks zero", ""], Names),
    program("basename dirname", ["az", "s", "multiple suffix zero", ""], Text),
    program("pwd", ["LP", "", "", ""], Nothing),
    program("seq", ["w", "fs", "equal-width format separator", ""], Text),
    program("sleep", ["", "", "", ""], Text),
    program("exit return", ["", "", "", ""], Text),
    program("uname arch nproc", ["asnrvmpio", "", "all kernel-name nodename kernel-release machine", ""], Nothing),
    program("whoami uptime tty logname", ["ps", "", "", ""], Nothing),
    program("hostname", ["sfdiI", "", "short fqdn", ""], Nothing),
    program("id groups", ["ugGnr", "", "", ""], Text),
    program("free", ["bkmghtlw", "", "human total", ""], Nothing),
    program("which whereis type", ["aptPfsbm", "", "all", ""], Text),
    program("pgrep pidof", ["flaxnoci", "u", "full list-name list-full", ""], Text),
    program("lsof", ["nPt", "ip", "", ""], Text),
    program("ss netstat", ["tuplnaeorsi46x", "", "tcp udp listening numeric processes all", ""], Nothing),
    program("grep egrep fgrep", GREP, Search).with_numbers(),
    program("rg", RIPGREP, Search).with_numbers(),
    program("fd fdfind", ["HIaspiFgu01", "tedES", "hidden no-ignore absolute-path case-sensitive ignore-case fixed-strings glob full-path print0 unrestricted type extension max-depth exclude size color", "type extension max-depth exclude size color changed-within changed-before"], SearchNames),
    program("tokei cloc scc", ["CfV", "test", "json files exclude by-file vcs hide-rate quiet exclude-dir include-lang", "exclude exclude-dir include-lang"], Names),
    program("jq", ["rcMSsnejaC", "", "raw-output compact-output monochrome-output sort-keys slurp null-input exit-status join-output ascii-output color-output tab raw-input unbuffered", ""], Search),
    program("sed", ["nErsuz", "e", "quiet silent regexp-extended separate unbuffered null-data expression debug posix", "expression"], Search),
    program("awk gawk mawk", ["", "Fv", "field-separator", ""], Search),
    program("mkdir", ["pv", "", "parents verbose", ""], Own),
    program("touch", ["acm", "", "no-create", ""], Own),
    program("tee", ["ai", "", "append", ""], Write),
];

/// Kinds of files by which `rg` can be narrowed, all of them code.
pub(super) const TYPES: [&str; 18] = [
    "c", "cpp", "css", "go", "h", "html", "java", "js", "kotlin", "markdown", "md", "php", "py",
    "ruby", "rust", "sh", "swift", "ts",
];

/// Programs that say which version they are.
pub(super) const VERSIONED: [&str; 40] = [
    "bash",
    "bun",
    "bundle",
    "bundler",
    "cargo",
    "clang",
    "cmake",
    "deno",
    "docker",
    "gcc",
    "gem",
    "gh",
    "git",
    "go",
    "gradle",
    "java",
    "javac",
    "jq",
    "make",
    "mvn",
    "node",
    "npm",
    "php",
    "pip",
    "pip3",
    "pnpm",
    "poetry",
    "pytest",
    "python",
    "python3",
    "rg",
    "ruby",
    "ruff",
    "rustc",
    "rustup",
    "sqlite3",
    "terraform",
    "tsc",
    "uv",
    "yarn",
];

/// Returns whether a program takes what it reads for code.
pub(super) fn takes_code(name: &str) -> bool {
    let name = crate::path::name(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    SHELLS.contains(&name)
        || RUNNERS.contains(&name)
        || matches!(
            stem,
            "python"
                | "pypy"
                | "node"
                | "nodejs"
                | "deno"
                | "bun"
                | "ruby"
                | "perl"
                | "php"
                | "lua"
                | "luajit"
                | "Rscript"
                | "R"
                | "julia"
                | "tclsh"
                | "osascript"
                | "psql"
                | "mysql"
                | "mariadb"
                | "sqlite"
                | "mongosh"
                | "mongo"
                | "redis-cli"
                | "ts-node"
                | "tsx"
                | "irb"
                | "iex"
                | "ghci"
                | "scala"
                | "jshell"
                | "groovy"
                | "make"
                | "gmake"
                | "patch"
                | "tar"
                | "cpio"
                | "crontab"
                | "at"
                | "batch"
                | "bc"
                | "dc"
                | "ed"
                | "ex"
                | "vi"
                | "vim"
                | "nvim"
                | "emacs"
                | "gdb"
                | "lldb"
                | "awk"
                | "sed"
        )
}

/// The words of a command as a program reads them.
pub(super) struct Arguments {
    /// Options with their values.
    pub(super) options: Vec<(String, Option<String>)>,
    /// The remaining words.
    pub(super) operands: Vec<String>,
}

impl Arguments {
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options
            .iter()
            .any(|(name, _)| names.contains(&name.as_str()))
    }

    pub(super) fn value(&self, names: &[&str]) -> Option<&str> {
        let mut options = self.options.iter();
        let (_, value) = options.find(|(name, _)| names.contains(&name.as_str()))?;
        value.as_deref()
    }
}

/// Reads words by the known options: letters without and with a value, long options, and long
/// options whose value may be the next word.
pub(super) fn read(
    words: &[String],
    [flags, values, long, long_values]: [&str; 4],
    numbers: bool,
) -> Result<Arguments, AllowRefusal> {
    let mut read = Arguments {
        options: Vec::new(),
        operands: Vec::new(),
    };
    let is_in = |list: &str, name: &str| list.split_ascii_whitespace().any(|one| one == name);
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let refused = || refused_word(words, Some(word));
        if word == "--" {
            read.operands.extend(rest.by_ref().cloned());
        } else if let Some(option) = word.strip_prefix("--") {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let value = match value {
                None if is_in(long_values, name) => Some(rest.next().ok_or_else(refused)?.clone()),
                None if is_in(long, name) => None,
                Some(value) if is_in(long, name) || is_in(long_values, name) => Some(value),
                _ => return Err(refused()),
            };
            read.options.push((name.to_owned(), value));
        } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            if numbers && letters.chars().all(|letter| letter.is_ascii_digit()) {
                continue;
            }
            for (at, letter) in letters.char_indices() {
                let name = letter.to_string();
                if flags.contains(letter) {
                    read.options.push((name, None));
                    continue;
                }
                if !values.contains(letter) {
                    return Err(refused());
                }
                let attached = &letters[at + letter.len_utf8()..];
                let value = if attached.is_empty() {
                    rest.next().ok_or_else(refused)?.clone()
                } else {
                    attached.to_owned()
                };
                read.options.push((name, Some(value)));
                break;
            }
        } else {
            read.operands.push(word.clone());
        }
    }
    Ok(read)
}
