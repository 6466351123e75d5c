//! Programs in compiled languages that were written in the same command, built and run.
//!
//! A compiler's result for a known text is remembered as a script that runs the texts: `compiled`
//! with their paths, a name that no program has. So it is followed wherever it is run from, copied
//! or wrapped. The contents of files that existed before are not known here.

use super::embedded_code::{COMPILED, PROJECT};
use crate::{
    analyze::{
        evaluator::Evaluator,
        value::{Arg, Value, display_words},
    },
    path,
};

/// The command that runs the texts that it is given, in a script made here.
pub(super) const RUNS: &str = "compiled";

/// Endings of the files in which such programs stand.
const ENDINGS: [&str; 36] = [
    "c", "h", "cc", "cpp", "cxx", "hpp", "m", "mm", "rs", "go", "java", "kt", "kts", "scala", "sc",
    "swift", "zig", "nim", "cs", "csx", "fs", "fsx", "d", "hs", "ml", "cr", "v", "odin", "dart",
    "f90", "pas", "vala", "cu", "sol", "rst", "ers",
];

/// Files of one program that are looked at.
const MOST_FILES: usize = 32;

/// Use of the texts.
enum Use {
    /// They are built into a program.
    Built,
    /// They are run.
    Run,
    /// All of a project that is known is run.
    Project,
    /// The program that prepares the build of a project is run.
    Preparation,
}

impl Evaluator<'_> {
    /// Follows a compiler, or what it made.
    pub(super) fn compiler(&mut self, name: &str, words: &[Arg], input: Option<&Value>) {
        if name == RUNS {
            for word in words.iter().skip(1).take(MOST_FILES) {
                let text = self.content(word).text;
                self.code(COMPILED, &text);
            }
            return;
        }
        let Some(used) = used(name, words) else {
            return;
        };
        let inline = words.array_windows().find(|[option, _]| {
            matches!(
                option.text.as_str(),
                "-e" | "-E" | "eval" | "--expr" | "--execute"
            )
        });
        if let (Use::Run, Some([_, text])) = (&used, inline) {
            let text = text.text.clone();
            self.code(COMPILED, &text);
        }
        let mut files = match used {
            Use::Built | Use::Run => self.given(words),
            Use::Project => self.written_within(words),
            Use::Preparation => {
                let mut files = self.written_within(words);
                files.retain(|file| path::name(file) == "build.rs");
                files
            }
        };
        files.truncate(MOST_FILES);
        let is_read = words
            .iter()
            .any(|word| matches!(word.text.as_str(), "-" | "/dev/stdin"));
        let fed =
            input.filter(|_| is_read || name == "jshell" || files.is_empty() && name == "root");
        match used {
            Use::Built => {
                if let Some(fed) = fed {
                    let read = "/dev/fd/compiled".to_owned();
                    self.write_file(&read, fed.clone(), false);
                    files.push(read);
                }
                self.build(name, words, files);
            }
            Use::Run | Use::Project | Use::Preparation => {
                let texts = files.iter().filter_map(|file| self.state.files.get(file));
                let mut texts: Vec<String> = texts.map(|value| value.text.clone()).collect();
                texts.extend(fed.map(|fed| fed.text.clone()));
                let language = match used {
                    Use::Project | Use::Preparation => PROJECT,
                    Use::Built | Use::Run => COMPILED,
                };
                for text in texts {
                    self.code(language, &text);
                }
            }
        }
    }

    /// Remembers what is made of these files.
    fn build(&mut self, name: &str, words: &[Arg], files: Vec<String>) {
        let Some(first) = files.first() else {
            return;
        };
        let target = words.iter().enumerate().find_map(|(at, word)| {
            let text = word.text.as_str();
            let joined = ["-femit-bin=", "--out=", "-out:", "--output="];
            match text {
                "-o" | "-d" | "--output" | "-of" => words.get(at + 1).map(|word| word.text.clone()),
                _ => joined
                    .iter()
                    .find_map(|option| text.strip_prefix(option))
                    .or_else(|| text.strip_prefix("-o").filter(|rest| !rest.is_empty()))
                    .or_else(|| text.strip_prefix("-of="))
                    .map(str::to_owned),
            }
        });
        let stem = path::name(first);
        let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
        let made = match target {
            Some(target) => target,
            None if is_of_c(name) => "a.out".to_owned(),
            None => stem.to_owned(),
        };
        let runs: Vec<Arg> = [RUNS.to_owned()]
            .into_iter()
            .chain(files.iter().cloned())
            .map(Arg::plain)
            .collect();
        let script = Value::known(display_words(&runs));
        let made = self.state.absolute(&made);
        // `go build -o bin/ x.go` and `javac -d out X.java` name a folder.
        let within = format!("{}/{stem}", made.trim_end_matches('/'));
        self.write_file(&within, script.clone(), false);
        self.write_file(&made, script, false);
    }

    /// The files among the words that are known, a class of Java by its name.
    fn given(&self, words: &[Arg]) -> Vec<String> {
        let mut files = Vec::new();
        for word in words.iter().skip(1) {
            let text = word.text.as_str();
            let at = self.state.absolute(text);
            if self.is_text(&at) {
                files.push(at);
                continue;
            }
            // `gcc *.c`, `go run .`, `java Main` for the program in `Main.java`.
            let known = self.state.files.keys().filter(|file| {
                let class = || {
                    let class = text.rsplit(['.', '/']).next().unwrap_or(text);
                    path::name(file).strip_suffix(".java") == Some(class)
                };
                let in_folder = || {
                    file.rsplit_once('/')
                        .is_some_and(|(folder, _)| folder == at)
                };
                let fits = || word.glob && crate::analyze::pattern::matches(&at, file);
                self.is_text(file) && (class() || in_folder() || fits())
            });
            files.extend(known.cloned());
        }
        files
    }

    /// Lists the known program files in the folder of a build: the working folder, or the one that
    /// an option names.
    fn written_within(&self, words: &[Arg]) -> Vec<String> {
        let named = words.array_windows().find(|[option, _]| {
            matches!(
                option.text.as_str(),
                "--manifest-path" | "-C" | "--project" | "-p" | "--package-path" | "-f"
            )
        });
        let folder = named.map_or(".", |[_, folder]| folder.text.as_str());
        let at = self.state.absolute(folder);
        let at = match at.strip_suffix("/Cargo.toml") {
            Some(folder) => folder.to_owned(),
            None => at,
        };
        let files = self.state.files.keys();
        let within = files.filter(|file| self.is_text(file) && path::is_within(file, &at));
        within.cloned().collect()
    }

    /// Whether a file is a program in such a language, with a known text.
    fn is_text(&self, file: &str) -> bool {
        let ends = path::name(file).rsplit_once('.');
        ends.is_some_and(|(_, end)| ENDINGS.contains(&end)) && self.state.files.contains_key(file)
    }
}

/// Returns the use that a compiler or a builder makes of the texts, by its name and its words.
fn used(name: &str, words: &[Arg]) -> Option<Use> {
    let says = |wanted: &[&str]| {
        let mut texts = words.iter().skip(1).map(|word| word.text.as_str());
        texts.any(|word| wanted.contains(&word))
    };
    Some(match name {
        "tcc" if says(&["-run"]) => Use::Run,
        _ if is_of_c(name) => Use::Built,
        "rustc" | "swiftc" | "javac" | "kotlinc" | "ghc" | "ldc2" | "gdc" | "fpc" | "ocamlc"
        | "ocamlopt" | "ocamlfind" | "mcs" | "csc" | "valac" | "gfortran" | "nvcc"
            if !says(&["-script", "-e"]) =>
        {
            Use::Built
        }
        "dmd" if !says(&["-run"]) => Use::Built,
        "go" if says(&["run"]) => Use::Run,
        "go" if says(&["test"]) => Use::Project,
        "swift" if says(&["run", "test"]) => Use::Project,
        "go" if says(&["build", "install"]) => Use::Built,
        "zig" if says(&["run", "test"]) => Use::Run,
        "zig" if says(&["build-exe", "cc", "c++"]) => Use::Built,
        "nim" if says(&["r", "-r", "--run"]) => Use::Run,
        "nim" if says(&["c", "cpp", "compile"]) => Use::Built,
        "crystal" | "odin" | "v" if says(&["build"]) => Use::Built,
        "swift" | "crystal" | "rdmd" | "dmd" | "runghc" | "runhaskell" | "ghc" | "rust-script"
        | "kotlinc" | "kotlin" | "scala" | "scala-cli" | "java" | "dotnet-script" | "csi"
        | "csharp" | "jshell" | "dart" | "ocaml" | "odin" | "v" | "cling" | "root" | "stack"
        | "amm" => Use::Run,
        "cargo" if says(&["script", "-Zscript", "eval", "-Z"]) => Use::Run,
        "cargo" if says(&["run", "r", "test", "t", "bench", "nextest"]) => Use::Project,
        "cargo" if says(&["build", "b", "check", "clippy", "install"]) => Use::Preparation,
        "dotnet" if says(&["script"]) || words.iter().any(is_of_csharp) => Use::Run,
        "dotnet" if says(&["run", "test", "watch"]) => Use::Project,
        "mvn" | "mvnw" | "gradle" | "gradlew" | "sbt" | "cabal" | "dune" | "bazel" => Use::Project,
        _ => return None,
    })
}

/// Whether a word names a program in C#, which is run alone.
fn is_of_csharp(word: &Arg) -> bool {
    let ending = word.text.rsplit_once('.');
    ending.is_some_and(|(_, ending)| ending == "cs")
}

/// Whether a compiler of C or C++ has this name, also one for another machine.
fn is_of_c(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let last = plain.rsplit('-').next().unwrap_or(plain);
    matches!(
        last,
        "gcc" | "cc" | "clang" | "g++" | "c++" | "clang++" | "tcc" | "icx" | "hipcc"
    )
}
