//! Values of programs: forms, patterns, functions, failures. Stops for a call: `effects`.

use callosum_plan::{Failure, FailureKind};

use crate::running::{answered, check, fail, hint_of, run};

/// CCOS-RTFS-1: values and arithmetic, with our decisions on the places where the papers differ.
#[test]
fn arithmetic_is_exact_and_fails_where_it_cannot_be() {
    for (source, value) in [
        ("(+ 1 2 3)", "6"),
        ("(+ 1)", "1"),
        ("(* 7)", "7"),
        ("(+ 1 2.5)", "3.5"),
        ("(- 5)", "-5"),
        ("(- 10 1 2)", "7"),
        ("(/ 6 3)", "2"),
        ("(/ 7 2)", "3.5"),
        ("(/ 6.0 2)", "3"),
        ("(/ 10 2 2)", "2.5"),
        ("(* 3037000500 3037000499)", "9223372033963249500"),
        ("(- 9007199254740993 1)", "9007199254740992"),
        ("(mod -7 3)", "2"),
        ("(rem -7 3)", "-1"),
        ("(quot 7 2)", "3"),
        ("(pow 2 10)", "1024"),
        ("(pow 2 -1)", "0.5"),
        ("(pow 1 9000000000)", "1"),
        ("(sqrt 16)", "4.0"),
        ("(factorial 20)", "2432902008176640000"),
        ("(max 1 2.5 2)", "2.5"),
        ("(abs -3)", "3"),
        ("(int 2.9)", "2"),
        ("(float 2)", "2.0"),
        ("(parse-int \"12\")", "12"),
        ("(parse-int \"x\")", "nil"),
        ("(= 1 1.0)", "false"),
        ("(= {:a 1 :b 2} {:b 2 :a 1})", "true"),
        ("(= 1 1 1)", "true"),
        ("(not= 1 2)", "true"),
        ("(< 1 2 3)", "true"),
        ("(< 1 1)", "false"),
        ("(< 9007199254740993 9007199254740992.0)", "false"),
        ("(>= 2 2.0)", "true"),
        ("(< \"a\" \"b\")", "true"),
        ("1.0e300", "1.0e300"),
    ] {
        check(source, value);
    }
    fail("(/ 1 0)", FailureKind::DivisionByZero);
    fail("(/ 1.0 0)", FailureKind::DivisionByZero);
    fail("(mod 1 0)", FailureKind::DivisionByZero);
    fail("(+ 9223372036854775807 1)", FailureKind::IntegerOverflow);
    fail("(* 9223372036854775807 2)", FailureKind::IntegerOverflow);
    fail("(- -9223372036854775808)", FailureKind::IntegerOverflow);
    fail("(/ -9223372036854775808 -1)", FailureKind::IntegerOverflow);
    fail("(abs -9223372036854775808)", FailureKind::IntegerOverflow);
    fail("(factorial 21)", FailureKind::IntegerOverflow);
    fail("(int 1.0e300)", FailureKind::IntegerOverflow);
    fail("(+ 1 \"a\")", FailureKind::TypeError);
    fail("(< 1 \"a\")", FailureKind::TypeError);
    fail("(inc)", FailureKind::ArityMismatch);
    fail("(sqrt -1)", FailureKind::InvalidArgument);
}

/// CCOS-RTFS-1: only nil and false are false; `and` and `or` evaluate no more than they must.
#[test]
fn conditions_decide_and_evaluate_no_more_than_they_must() {
    for (source, value) in [
        ("(if 0 1 2)", "1"),
        ("(if \"\" 1 2)", "1"),
        ("(if [] 1 2)", "1"),
        ("(if nil 1 2)", "2"),
        ("(if false 1)", "nil"),
        ("(step-if 0 1 2)", "1"),
        ("(and)", "true"),
        ("(or)", "false"),
        ("(and 1 nil 2)", "nil"),
        ("(and 1 2)", "2"),
        ("(or nil false)", "false"),
        ("(or nil 3 4)", "3"),
        ("(and false (/ 1 0))", "false"),
        ("(or 1 (/ 1 0))", "1"),
        ("(do)", "nil"),
        ("(do 1 2)", "2"),
        ("()", "[]"),
    ] {
        check(source, value);
    }
}

/// CCOS-RTFS-1: names are lexical; functions of one `let` may call one another.
#[test]
fn names_are_lexical_and_functions_may_call_one_another() {
    for (source, value) in [
        ("(let [x 1 y (+ x 1)] (* x y))", "2"),
        ("(let [x 1] (let [x 2] x) x)", "1"),
        ("((fn [x] (* x x)) 4)", "16"),
        ("((fn (x) x) 4)", "4"),
        ("((λ [& xs] xs) 1 2)", "[1 2]"),
        ("((fn [a & xs] [a xs]) 1)", "[1 []]"),
        ("(let [add (fn [n] (fn [x] (+ x n)))] ((add 2) 3))", "5"),
        (
            "(let [even (fn [n] (if (= n 0) true (odd (- n 1)))) odd (fn [n] (if (= n 0) false (even (- n 1))))] (even 10))",
            "true",
        ),
        (
            "(defn fact [n] (if (< n 2) 1 (* n (fact (dec n))))) (fact 10)",
            "3628800",
        ),
        ("(defn f [] (g)) (defn g [] 7) (f)", "7"),
        ("(def x 3) (def y : Int (+ x 1)) y", "4"),
        ("(let [y 2] (defn f [x] (+ x y)) (def z 10) (f z))", "12"),
        ("(do (def a 1) (defn b [] a) (b))", "1"),
        ("(let [f (fn [n] (if (= n 0) 0 (f (- n 1))))] (f 3))", "0"),
        ("(let [a 1 f (fn [] a) a 2] (f))", "1"),
        (
            "(let [f (fn [x] (let [g (fn [y] (if (= y 0) x (f (- y 1))))] (g x)))] (f 3))",
            "0",
        ),
    ] {
        check(source, value);
    }
    fail("(let [x 1])", FailureKind::ParseError);
    fail("(f) (defn f [] 1)", FailureKind::UndefinedSymbol);
    fail("(foo 1)", FailureKind::UndefinedSymbol);
    fail("(let [f (fn [] x) x 1] (f))", FailureKind::UndefinedSymbol);
    fail("((fn [x] x))", FailureKind::ArityMismatch);
    fail("((fn [x] x) 1 2)", FailureKind::ArityMismatch);
    fail("(1 2)", FailureKind::TypeError);
    fail("(fn [x x] x)", FailureKind::ParseError);
    fail("(let [if 1] if)", FailureKind::ParseError);
}

/// CCOS-RTFS-1: patterns take values apart, and `match` tries them.
#[test]
fn patterns_take_values_apart() {
    for (source, value) in [
        ("(let [[a b] [1 2]] (+ a b))", "3"),
        ("(let [[a & r] [1 2 3]] r)", "[2 3]"),
        ("(let [[a b :as v] [1 2]] v)", "[1 2]"),
        ("(let [{:keys [a b]} {:a 1}] [a b])", "[1 nil]"),
        ("(let [{a :a} {:a 1}] a)", "1"),
        ("(let [{:a x :as m} {:a 1 :b 2}] [x m])", "[1 {:a 1 :b 2}]"),
        ("(let [{:a x & r} {:a 1 :b 2}] r)", "{:b 2}"),
        ("(let [{:a [x y]} {:a [1 2]}] y)", "2"),
        ("((fn [[a b] {:keys [c]}] [a b c]) [1 2] {:c 3})", "[1 2 3]"),
        ("(match 1 1 :one _ :other)", ":one"),
        ("(match 5 n when (> n 3) :large n :small)", ":large"),
        ("(match [1 2] [a] 1 [a b] (+ a b))", "3"),
        ("(match [1 2 3] [a & r] r)", "[2 3]"),
        ("(match {:a 1} {:a x} x)", "1"),
        ("(match {:a 1 :b 2} {:a x} :exact _ :other)", ":other"),
        ("(match {:a 1 :b 2} {:a x & r} r)", "{:b 2}"),
        (
            "(match {:type :ok :v 1} {:type :err & _} 0 {:type :ok :v v} v)",
            "1",
        ),
        ("(match [1 2] (:as all [a b]) [a all])", "[1 [1 2]]"),
        ("(match :k :k \"yes\")", "\"yes\""),
        (
            "(for [x [1 2] y [:a :b]] [x y])",
            "[[1 :a] [1 :b] [2 :a] [2 :b]]",
        ),
        ("(for [[a b] [[1 2] [3 4]]] (+ a b))", "[3 7]"),
        ("(dotimes [i 3] i)", "nil"),
    ] {
        check(source, value);
    }
    fail("(let [[a b] [1]] a)", FailureKind::MatchError);
    fail("(let [[a] 1] a)", FailureKind::TypeError);
    fail("(match 3 1 2)", FailureKind::MatchError);
}

/// CCOS-RTFS-1: failures are values that `catch` tells apart by kind; `finally` is evaluated anyway.
#[test]
fn failures_are_caught_by_kind_and_finally_comes_always() {
    for (source, value) in [
        ("(try 1 (catch e 2))", "1"),
        ("(try (/ 1 0) (catch e (:type e)))", ":DivisionByZero"),
        (
            "(try (/ 1 0) (catch :TypeError e 1) (catch :DivisionByZero e 2))",
            "2",
        ),
        (
            "(try (/ 1 0) (catch TypeError e 1) (catch _ e (:type e)))",
            ":DivisionByZero",
        ),
        ("(try (/ 1 0) (catch {:type t & _} t))", ":DivisionByZero"),
        (
            "(try (try (/ 1 0) (catch :TypeError e 1)) (catch e 5))",
            "5",
        ),
        ("(try (+ 1 (/ 1 0)) (catch e 3) (finally 4))", "3"),
        (
            "(map (fn [x] (try (/ 6 x) (catch e nil))) [1 0 3])",
            "[6 nil 2]",
        ),
    ] {
        check(source, value);
    }
    fail(
        "(try (/ 1 0) (catch :TypeError e 1))",
        FailureKind::DivisionByZero,
    );
    fail("(try 1 (catch :Nonsense e 1))", FailureKind::ParseError);
    fail("(try (catch e 1) 5)", FailureKind::ParseError);
    // What is raised on the way out takes the place of what was on its way.
    fail(
        "(try (/ 1 0) (catch e (inc nil)) (finally 1))",
        FailureKind::TypeError,
    );
    let (outcome, calls) = answered(
        "(try (call :a) (catch e (call :b)) (finally (call :c)))",
        |call| match call {
            ":a" => Err(Failure::new(FailureKind::CapabilityError, "no")),
            _ => Ok("1"),
        },
    );
    assert_eq!(outcome.unwrap(), "1");
    assert_eq!(calls, ["0 :a", "1 :b", "2 :c"]);
}

/// CCOS-RTFS-1: type expressions are checked when values meet them.
#[test]
fn types_are_checked_where_they_are_written() {
    check("(let [x : Int 1] x)", "1");
    check("(let [x :Int 1 y [:a]] [x y])", "[1 [:a]]");
    check("((fn [x : Int] : String (str x)) 1)", "\"1\"");
    check(
        "(defn f [x :Int & r :Int] :Int (apply + x r)) (f 1 2 3)",
        "6",
    );
    for source in [
        "(let [x : String 1] x)",
        "((fn [x : Int] x) \"a\")",
        "((fn [x] : Int x) \"a\")",
        "(def x : [:vector Int] [1 \"a\"])",
        "(let [x : [:map [:a Int]] {}] x)",
    ] {
        fail(source, FailureKind::TypeValidationError);
    }
    fail("(let [x : Foo 1] x)", FailureKind::ParseError);
}

/// CCOS-RTFS-1: the pure library.
#[test]
fn the_library_does_what_its_page_says() {
    for (source, value) in [
        ("(get {:a 1} :a)", "1"),
        ("(get {:a 1} :b 2)", "2"),
        ("(get [1 2] 5)", "nil"),
        ("(:a {:a 1})", "1"),
        ("(:a nil 3)", "3"),
        ("(get-in {:a {:b [1 2]}} [:a :b 1])", "2"),
        ("(assoc {:a 1} :b 2 :c 3)", "{:a 1 :b 2 :c 3}"),
        ("(assoc [1 2] 1 5 2 6)", "[1 5 6]"),
        ("(dissoc {:a 1 :b 2} :a)", "{:b 2}"),
        ("(update {:a 1} :a inc)", "{:a 2}"),
        ("(update {} :n (fn [v d] (or v d)) 7)", "{:n 7}"),
        ("(merge {:a 1} nil {:a 2 :b 3})", "{:a 2 :b 3}"),
        ("(conj [1] 2 3)", "[1 2 3]"),
        ("(conj {:a 1} [:b 2])", "{:a 1 :b 2}"),
        ("(cons 0 [1 2])", "[0 1 2]"),
        ("(concat [1] nil [2 3])", "[1 2 3]"),
        (
            "[(count nil) (count \"é\") (count {:a 1}) (length [1])]",
            "[0 1 1 1]",
        ),
        (
            "[(first []) (first [1 2]) (last [1 2]) (rest [1 2]) (nth [1 2] 1)]",
            "[nil 1 2 [2] 2]",
        ),
        ("(map inc [1 2])", "[2 3]"),
        ("(map (fn [c] c) \"ab\")", "[\"a\" \"b\"]"),
        ("(map :a [{:a 1} {:a 2}])", "[1 2]"),
        ("(filter odd? [1 2 3])", "[1 3]"),
        ("(remove odd? [1 2 3])", "[2]"),
        ("(reduce + [1 2 3])", "6"),
        ("(reduce + 10 [])", "10"),
        (
            "(reduce (fn [m [k v]] (assoc m k v)) {} [[:a 1] [:b 2]])",
            "{:a 1 :b 2}",
        ),
        ("(apply + 1 [2 3])", "6"),
        ("(map-indexed (fn [i x] [i x]) [:a :b])", "[[0 :a] [1 :b]]"),
        ("(group-by odd? [1 2 3])", "{false [2] true [1 3]}"),
        ("(frequencies [:a :b :a])", "{:a 2 :b 1}"),
        ("(distinct [1 2 1 1.0])", "[1 2 1.0]"),
        ("(sort [3 1 2.5])", "[1 2.5 3]"),
        ("(sort-by :n [{:n 2} {:n 1}])", "[{:n 1} {:n 2}]"),
        ("(sort-by (fn [x] (- x)) [1 3 2])", "[3 2 1]"),
        (
            "[(every? pos? [1 2]) (some? neg? [1 2]) (find neg? [1 -2])]",
            "[true false -2]",
        ),
        (
            "[(range 3) (range 1 3) (range 5 0 -2)]",
            "[[0 1 2] [1 2] [5 3 1]]",
        ),
        (
            "[(take 2 [1 2 3]) (drop 2 [1 2 3]) (reverse [1 2]) (subvec [1 2 3] 1 2)]",
            "[[1 2] [3] [2 1] [2]]",
        ),
        ("(partition 2 [1 2 3 4 5])", "[[1 2] [3 4]]"),
        ("[(keys {:b 1 :a 2}) (vals {:b 1 :a 2})]", "[[:a :b] [2 1]]"),
        (
            "[(contains? {:a 1} :a) (contains? [1] 1) (empty? {}) (nil? nil)]",
            "[true false true true]",
        ),
        ("(vector 1 2)", "[1 2]"),
        ("(hash-map :a 1)", "{:a 1}"),
        ("(str \"a\" 1 :k 1.0 nil [\"x\"])", "\"a1:k1.0[\\\"x\\\"]\""),
        (
            "[(substring \"héllo\" 1 3) (string-length \"é\") (split \"a,b\" \",\")]",
            "[\"él\" 1 [\"a\" \"b\"]]",
        ),
        (
            "[(join \",\" [1 2]) (string-join [\"a\" \"b\"] \"-\")]",
            "[\"1,2\" \"a-b\"]",
        ),
        (
            "[(string-upper \"a\") (string-trim \" a \") (starts-with? \"ab\" \"a\") (string-contains \"ab\" \"b\")]",
            "[\"A\" \"a\" true true]",
        ),
        (
            "[(re-find \"[0-9]+\" \"a12b\") (re-matches \"a(.)\" \"ab\") (re-seq \".\" \"ab\")]",
            "[\"12\" [\"ab\" \"b\"] [\"a\" \"b\"]]",
        ),
        (
            "(parse-json \"{\\\"a\\\": [1, 2.5, null]}\")",
            "{\"a\" [1 2.5 nil]}",
        ),
        ("(serialize-json {:a [1 nil]})", "\"{\\\"a\\\":[1,null]}\""),
        (
            "[(type-name 1) (type-name {}) (keyword \"a.b\") (name :a)]",
            "[\"integer\" \"map\" :a.b \"a\"]",
        ),
        ("(let [f map] (f inc [1]))", "[2]"),
    ] {
        check(source, value);
    }
    fail("(map inc {:a 1})", FailureKind::TypeError);
    fail("(get \"abc\" 1)", FailureKind::TypeError);
    fail("(nth [1] 3)", FailureKind::InvalidArgument);
    fail("(sort [1 \"a\"])", FailureKind::TypeError);
    fail("(re-find \"(\" \"a\")", FailureKind::InvalidArgument);
    fail("(parse-json \"{\")", FailureKind::InvalidArgument);
    fail("(assoc {} [1] 2)", FailureKind::TypeError);
}

/// CCOS-RTFS-1: a failure says what the value is that it is about.
#[test]
fn failures_say_what_the_value_is() {
    for (source, message) in [
        ("(let [[a] nil] a)", "the pattern does not match nil"),
        (
            "(let [[a] [1 2]] a)",
            "the pattern does not match a vector ([1 2])",
        ),
        (
            "(let [x : [:map [:a Int]] {:a :b}] x)",
            "the value{:a} is a keyword, so the whole is not of type [:map [:a Int]]; it is a map ({:a :b})",
        ),
        (
            "(reduce (fn [a _] [a a]) [] (range 100))",
            "the program's value would have too many bytes to count when written out",
        ),
    ] {
        let failure = run(source, |_| Vec::new()).unwrap_err();
        assert_eq!(failure.message, message, "{source}");
    }
}

/// CCOS-RTFS-1: forms of other languages are refused with what to write instead.
#[test]
fn forms_of_other_languages_are_refused_with_a_hint() {
    for (source, hint) in [
        ("(cond true 1)", "nest `if`"),
        ("(-> 1 inc)", "nest the calls"),
        ("(loop [x 1] (recur x))", "calls itself"),
        ("(when true 1)", "(if condition value)"),
        ("(println 1)", "cannot print"),
        ("(defmacro m [] 1)", "no macros"),
        ("(read-file \"/etc/passwd\")", "files are effects"),
        ("(throw 1)", "return a value"),
    ] {
        assert!(
            hint_of(source).contains(hint),
            "{source}: {}",
            hint_of(source)
        );
        fail(source, FailureKind::UnsupportedForm);
    }
    assert!(hint_of("(frist [1])").contains("did you mean `first`?"));
    assert!(hint_of("(reduce and true [])").contains("(fn [x y] (and x y))"));
    for (source, hint) in [
        ("(map call [:a])", "(fn [x] (call :storage.read x))"),
        ("(map let [1])", "write the form out"),
        (
            "(string-replace \"a\" \"b\" \"c\")",
            "(join new (split text old))",
        ),
        ("(string-concat \"a\" \"b\")", "`str`"),
        ("(second [1 2])", "(nth items 1)"),
        ("(numbers 3)", "`range`"),
        (
            "(let [{:keys [a] :or {a 5}} {}] a)",
            "(get map :key default)",
        ),
        ("(step-if)", "(step-if condition then else)"),
        ("(step-loop nil)", "(step-loop condition body)"),
        ("(fs.read \"x\")", "(call :fs.read {…})"),
        ("(str/join \",\" [])", "`join`"),
        ("(trim \" x\")", "`string-trim`"),
    ] {
        assert!(
            hint_of(source).contains(hint),
            "{source}: {}",
            hint_of(source)
        );
    }
    check("(join \"b\" (split \"xax\" \"a\"))", "\"xbx\"");
    // A name of one's own is no form of another language.
    check("(let [log (fn [x] x)] (log 1))", "1");
}

/// CCOS-RTFS-1: kinds of values and short ways of writing that the papers have and we have not are
/// refused, each with what to write instead.
#[test]
fn what_of_the_papers_is_not_taken_is_refused_with_a_hint() {
    for (source, kind, hint) in [
        (
            "2025-01-10T00:00:00Z",
            FailureKind::ParseError,
            "as strings",
        ),
        (
            "123e4567-e89b-12d3-a456-426614174000",
            FailureKind::ParseError,
            "as strings",
        ),
        (
            "a23e4567-e89b-12d3-a456-426614174000",
            FailureKind::UndefinedSymbol,
            "\"a23e4567-",
        ),
        (
            "resource://a/b",
            FailureKind::UndefinedSymbol,
            "\"resource://a/b\"",
        ),
        ("@intent", FailureKind::ParseError, "parameter"),
        (
            "(deref x)",
            FailureKind::UnsupportedForm,
            "values never change",
        ),
        ("(get :intent)", FailureKind::ParseError, "parameter"),
        ("#(+ % 1)", FailureKind::ParseError, "(fn [x]"),
        ("(map % [1])", FailureKind::UndefinedSymbol, "(fn [x]"),
        ("(.size x)", FailureKind::ParseError, "methods"),
        ("`(a ~b)", FailureKind::ParseError, "macros"),
        ("~@b", FailureKind::ParseError, "macros"),
        ("'(1 2)", FailureKind::ParseError, "quoting"),
        ("(quote a)", FailureKind::UnsupportedForm, "quoting"),
        ("(defmacro m [a] a)", FailureKind::UnsupportedForm, "macros"),
        (
            "(defstruct P :x Int)",
            FailureKind::UnsupportedForm,
            "types",
        ),
        ("^:delegation (f)", FailureKind::ParseError, "metadata"),
        ("#{1 2}", FailureKind::ParseError, "distinct"),
        ("(let [x : Symbol 1] x)", FailureKind::ParseError, "Keyword"),
        (
            "(let [x : Timestamp 1] x)",
            FailureKind::ParseError,
            "String",
        ),
        (
            "(let [x : [:resource a] 1] x)",
            FailureKind::ParseError,
            "String",
        ),
        ("(let [x : List 1] x)", FailureKind::ParseError, "Vector"),
        (
            "(let [x : [:array Int [3]] [1]] x)",
            FailureKind::ParseError,
            "[:length 3]",
        ),
        ("(let [x : Error 1] x)", FailureKind::ParseError, "catch"),
        ("(list 1 2)", FailureKind::UnsupportedForm, "vector"),
        ("(symbol? :a)", FailureKind::UnsupportedForm, "keyword?"),
    ] {
        fail(source, kind);
        assert!(
            hint_of(source).contains(hint),
            "{source}: {}",
            hint_of(source)
        );
    }
    check("[() (vector? ()) (count ())]", "[[] true 0]");
    check("(let [x : [:list Int] [1]] x)", "[1]");
    check(
        "(< \"2025-01-10T00:00:00Z\" \"2025-02-01T00:00:00Z\")",
        "true",
    );
}
