//! The languages whose programs may be part of a command.

/// A language whose programs can be given in a command.
pub(in crate::analyze) struct Language {
    pub(in crate::analyze) name: &'static str,
    /// Its programs, as the beginning of their names.
    programs: &'static [&'static str],
    /// Options that are followed by a program.
    pub(in crate::analyze) flags: &'static [&'static str],
    /// Whether the first operand is a program.
    pub(in crate::analyze) first: bool,
    /// Whether `#` begins a comment.
    pub(super) hash: bool,
    /// Whether backticks run something.
    pub(super) backticks: bool,
}

/// The languages.
pub(in crate::analyze) const LANGUAGES: &[Language] = &[
    Language {
        name: "python -c",
        programs: &["python", "pypy", "ipython", "micropython"],
        flags: &["-c"],
        first: false,
        hash: true,
        backticks: false,
    },
    Language {
        name: "node -e",
        programs: &["node", "nodejs", "bun", "tsx", "ts-node", "qjs", "d8", "zx"],
        flags: &["-e", "-p", "--eval", "--print"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "deno eval",
        programs: &["deno"],
        flags: &["eval"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "perl -e",
        programs: &["perl"],
        flags: &["-e", "-E"],
        first: false,
        hash: true,
        backticks: true,
    },
    Language {
        name: "ruby -e",
        programs: &["ruby", "jruby"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: true,
    },
    Language {
        name: "php -r",
        programs: &["php"],
        flags: &["-r", "--run"],
        first: false,
        hash: true,
        backticks: true,
    },
    Language {
        name: "raku -e",
        programs: &["raku", "perl6"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: false,
    },
    Language {
        name: "lua -e",
        programs: &["lua", "luajit"],
        flags: &["-e"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "awk",
        programs: &["awk", "gawk", "mawk", "nawk"],
        flags: &["--source"],
        first: true,
        hash: true,
        backticks: false,
    },
    Language {
        name: "osascript -e",
        programs: &["osascript"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: false,
    },
    Language {
        name: "Rscript -e",
        programs: &["Rscript", "R"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: false,
    },
    Language {
        name: "julia -e",
        programs: &["julia"],
        flags: &["-e"],
        first: false,
        hash: true,
        backticks: true,
    },
    Language {
        name: "tclsh",
        programs: &["tclsh", "wish"],
        flags: &[],
        first: false,
        hash: true,
        backticks: false,
    },
    Language {
        name: "groovy -e",
        programs: &["groovy"],
        flags: &["-e"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "emacs --eval",
        programs: &["emacs", "emacsclient", "guile", "sbcl", "racket"],
        flags: &["--eval", "-e", "-c"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "clojure -e",
        programs: &["clojure", "clj", "bb"],
        flags: &["-e", "--eval"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "erl -eval",
        programs: &["erl"],
        flags: &["-eval"],
        first: false,
        hash: false,
        backticks: false,
    },
    Language {
        name: "elixir -e",
        programs: &["elixir", "mix", "iex"],
        flags: &["-e", "--eval"],
        first: false,
        hash: true,
        backticks: false,
    },
];

impl Language {
    /// Whether its programs are built before they run.
    pub(super) fn is_compiled(&self) -> bool {
        self.name == super::COMPILED.name || self.name == super::PROJECT.name
    }

    /// Whether its calls begin with a bracket, and names may have a dash.
    pub(in crate::analyze) fn is_lisp(&self) -> bool {
        matches!(self.name, "clojure -e" | "emacs --eval")
    }

    /// A language whose programs never occur in a command's words.
    pub(super) const fn compiled(name: &'static str) -> Self {
        Self {
            name,
            programs: &[],
            flags: &[],
            first: false,
            hash: false,
            backticks: false,
        }
    }

    /// Whether a program of this name runs this language.
    pub(in crate::analyze) fn runs(&self, name: &str) -> bool {
        self.programs.iter().any(|program| {
            name.strip_prefix(program)
                .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        })
    }
}
