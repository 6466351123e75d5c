//! Features of other languages that this one does not have, each with what to write instead.
//!
//! Models write these from habit; the hint is what they are asked to mend.

/// Returns what to write instead of a form or function that isn't there.
pub(super) fn hint(name: &str) -> Option<&'static str> {
    Some(match name {
        "cond" | "condp" | "case" => {
            "nest `if`: `(if a x (if b y z))`; or use `match` if one value decides"
        }
        "when" | "when-let" | "when-not" | "if-let" | "if-not" | "unless" => {
            "write `(if condition value)`, which is nil without the third part; bind with `let` first"
        }
        "->" | "->>" | "as->" | "some->" | "some->>" | "cond->" | "comp" | "pipe" => {
            "nest the calls, or name each value with `let`"
        }
        "loop" | "recur" | "while" => {
            "write a function that calls itself, or use `map`, `reduce` or `for`; calls in tail position use no stack"
        }
        "doseq" | "dorun" | "doall" | "mapv" | "filterv" => {
            "use `map`, `filter` or `for`; they are eager and return vectors"
        }
        "throw" | "raise" | "error" | "assert" | "ex-info" => {
            "return a value that says what is wrong, such as `{:error \"…\"}`"
        }
        "quote" | "list" => "a vector `[…]` is data; there is no quoting",
        "eval" | "load" | "load-string" | "read-string" | "resolve" => {
            "a plan must be known before it runs; text cannot be evaluated"
        }
        "defmacro" | "define-macro" | "define-syntax" | "macroexpand" | "macroexpand-1"
        | "gensym" => {
            "there are no macros; write a function with `defn`, and pass what it may skip as `(fn [] …)`"
        }
        "quasiquote" | "syntax-quote" | "unquote" | "unquote-splicing" => {
            "there are no macros and no quasiquote; write a function with `defn`, and data as `[…]` or `{…}`"
        }
        "deftype" | "defstruct" | "defrecord" | "defprotocol" | "defmulti" | "defmethod"
        | "deftool" => "there are no new types; use maps, and type expressions to check them",
        "set!" | "swap!" | "reset!" | "atom" | "ref" | "var" | "volatile!" | "deref" => {
            "values never change; pass the next one on, as `reduce` does"
        }
        "read-file" | "write-file" | "slurp" | "spit" | "open" => {
            "files are effects: `(call :fs.read {:path \"…\"})`"
        }
        "println" | "print" | "prn" | "pr" | "log" | "tool/log" | "printf" | "format" => {
            "a plan cannot print; make the text part of its value with `str`"
        }
        "now" | "rand" | "rand-int" | "random" | "current-time" | "uuid" | "get-env" | "env" => {
            "time and randomness are effects; take the value as a parameter or from a `call`"
        }
        "llm-execute" | "ask" | "prompt" | "delegate" => {
            "ask a model with a call: `(call :agent.delegate {…})`"
        }
        "http-fetch" | "http-get" | "fetch" | "http/get" | "http-post" => {
            "the network is an effect; use a `call`"
        }
        "sh" | "shell" | "exec" | "system" | "spawn" => {
            "there is no shell; a plan acts only through capabilities, each with a `call`"
        }
        "ns" | "require" | "use" | "import" | "in-ns" => {
            "a plan is one source; there are no modules"
        }
        "letfn" => "`let` binds functions that may call one another",
        "defonce" | "define" | "defun" | "lambda" | "let*" | "progn" | "begin" => {
            "use `def`, `defn`, `fn`, `let` or `do`"
        }
        "list?" | "seq?" | "set?" => "sequences are vectors: `vector?`",
        "symbol?" => "no value is a symbol: `keyword?` or `string?`",
        "replace" | "string-replace" | "str-replace" => {
            "split the text and join it: `(join new (split text old))`"
        }
        "concat-strings" | "string-append" | "string-concat" | "strcat" => {
            "`str` concatenates strings, `join` those in a vector"
        }
        "trim" => "use `string-trim`",
        "upper-case" | "uppercase" | "to-upper" => "use `string-upper`",
        "lower-case" | "lowercase" | "to-lower" => "use `string-lower`",
        "includes?" => "use `string-contains` for a string, `contains?` for a map",
        "second" => "write `(nth items 1)`",
        "identity" => "write `(fn [x] x)`",
        "numbers" => "use `range`",
        "context" | "get-context" | "current-context" => "use a parameter of the plan",
        "parallel" | "pmap" | "future" | "async" | "await" => "use `step-parallel`",
        _ => return None,
    })
}

/// Whether an unknown word is what other notations have as a literal, and this one as a string: a
/// resource's address, or a uuid that begins with a letter.
pub(super) fn is_text(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').collect();
    let hexadecimal = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    name.contains("://") || (lengths == [8, 4, 4, 4, 12] && parts.iter().all(hexadecimal))
}

/// Whether an unknown word has the form of a capability's name, as `fs.read`.
pub(super) fn is_dotted(name: &str) -> bool {
    let segments = name.split(['.', '/']);
    let is_plain = |segment: &str| segment.starts_with(|first: char| first.is_ascii_alphabetic());
    name.contains(['.', '/']) && !is_text(name) && segments.into_iter().all(is_plain)
}
