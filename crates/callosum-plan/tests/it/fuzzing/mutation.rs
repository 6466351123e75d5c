//! Programs made of others: their trees cut, doubled, swapped, wrapped in every form, put into one
//! another.
//!
//! The caller draws the numbers that decide what is done, so that a property and a fuzzer draw
//! alike.

use callosum_plan::{Form, FormKind, Library, read, read_one};

/// Draws a number below another; the source of all that is decided here.
pub(crate) type Draw<'a> = &'a mut dyn FnMut(usize) -> usize;

/// Programs that use every form.
pub(crate) const SAMPLES: [&str; 17] = [
    "(defplan analyze (reviews) (let [sents (call :nlp.sentiment reviews)] (pure (summarize sents))))",
    "(let [[a & r] [1 2 3] {:keys [b] :as m} {:b 2}] (+ a b (count r) (count m)))",
    "(defn f [n : Int] : Int (if (< n 2) 1 (* n (f (dec n))))) (f 5)",
    "(match [1 {:k :v}] [1 {:k x}] x (:as all [a b]) when (> a 1) all _ nil)",
    "(try (/ 1 (call :a)) (catch :DivisionByZero e (:message e)) (catch e 2) (finally (call :b)))",
    "(for [x [1 2 3] y (range x)] (call :a {:x x \"y\" [y]}))",
    "(step :s {:timeout-ms 5 :retries {:max 2 :backoff-ms 1} :on-fail :retry} (map (fn [x] (call :a x)) [1 2]))",
    "(step-parallel (call :a) (do (call :b) (call :c)) (step-parallel (call :d) 1) :merge-policy :merge)",
    "(reduce (fn [m [k v]] (update m k (fn [o] (+ (or o 0) v)))) {} [[:a 1] [:b 2] [:a 3]])",
    "(step-loop (and true (not (call :done))) (dotimes [i 2] (checkpoint :c)))",
    "(:capability.query :kind :agent :skills [\"x\"] :trust-tier 3)",
    "(let [even (fn [n] (or (= n 0) (odd (- n 1)))) odd (fn [n] (and (not= n 0) (even (- n 1))))] (even 9))",
    "(do (def x : [:vector [:union Int nil]] [1 nil]) (defn g [& xs:int] (apply + xs)) (g 1 2)) ; end\n#| more |#",
    "[(str \"a\\n\" 1.5 ##Inf) (sort-by :n [{:n 2} {:n 1}]) (re-seq \"[a-c]+\" \"abcab\") (parse-json \"[1]\")]",
    "(defn f [] (call :a)) (def g f) (let [h f m {:k g}] [(g) (h) ((:k m)) (map f [])])",
    "(let [x : [:and [:map [:a Int] [:b [:enum :c \"d\"] ?]] [:has-key :a] [:min-count 1]] {:a 1}] (get-in x [:a]))",
    "(defn each [f items] (for [i items] (try (f i) (catch e (step-parallel (f 0) i))))) (each (fn [i] (call :a i)) [1 2])",
];

/// Forms with places `_` that a form is put into.
const WRAPS: [&str; 40] = [
    "(let [x _] x)",
    "(let [_ 1] 1)",
    "(let [x : _ 1] x)",
    "(let [x : [:and Any _] 1] x)",
    "(let [x : [:map _] {}] x)",
    "(let [f (fn [] _)] (f))",
    "(let [{:keys _} {}] 1)",
    "(let [[a & _] [1 2]] a)",
    "(if _ _ _)",
    "(do (def x _) (defn f [] _) [x (f)])",
    "(def x _)",
    "(defn f [x] _)",
    "(fn _ _)",
    "(fn [_ & _] 1)",
    "((fn [x : _] : _ x) _)",
    "(match _ _ _ _ when _ _)",
    "(match _ {:a _ & r} _ (:as v _) v)",
    "(try _ (catch _ _) (finally _))",
    "(try _ (catch e _ _))",
    "(for [x _ _ [1 2]] _)",
    "(dotimes [i _] _)",
    "(dotimes [_ 2] 1)",
    "(and _ _)",
    "(call :a _ _)",
    "(call _)",
    "(pure _)",
    "(step :s _ _)",
    "(step :s {:retries _ :timeout-ms _} _)",
    "(step-loop _ _)",
    "(step-parallel _ _)",
    "(step-parallel _ _ :merge-policy _)",
    "(checkpoint _)",
    "(:chain.query :a _)",
    "(defplan p _ _)",
    "(defplan p (x : _) _)",
    "[_ _]",
    "{:a _ _ 1}",
    "(_ _)",
    "(map (fn [x] _) _)",
    "(reduce (fn [a x] [a _]) _ (range 3))",
];

/// Atoms at the edges of what forms and functions take.
const ATOMS: [&str; 30] = [
    "nil",
    "true",
    "0",
    "-1",
    "3",
    "9223372036854775807",
    "-9223372036854775808",
    "0.5",
    "-0.0",
    "1.0e308",
    "##Inf",
    "##NaN",
    "\"\"",
    "\"aé\\n\"",
    "\"[a-\"",
    ":a",
    ":k",
    ":as",
    ":keys",
    ":merge-policy",
    "&",
    ":",
    "_",
    "x",
    "f",
    "call",
    "()",
    "[]",
    "{}",
    "(call :a 1)",
];

fn pick<T: Copy>(of: &[T], draw: Draw<'_>) -> T {
    of[draw(of.len())]
}

fn parsed(source: &str) -> Form {
    read_one(source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn sample(draw: Draw<'_>) -> Vec<Form> {
    let source = pick(&SAMPLES, draw);
    read(source).unwrap_or_else(|error| panic!("{source}: {error}"))
}

/// The items of a form, a map's keys and values by turns.
fn items_of(form: &Form) -> Option<Vec<Form>> {
    match &form.kind {
        FormKind::List(items) | FormKind::Vector(items) => Some(items.clone()),
        FormKind::Map(entries) => {
            let entries = entries.iter();
            Some(
                entries
                    .flat_map(|(key, value)| [key.clone(), value.clone()])
                    .collect(),
            )
        }
        _ => None,
    }
}

/// The form with other items; a map's last key is left out where it has no value.
fn with_items(form: &Form, items: Vec<Form>) -> Form {
    Form::built(match &form.kind {
        FormKind::List(_) => FormKind::List(items),
        FormKind::Vector(_) => FormKind::Vector(items),
        _ => {
            let (entries, _) = items.as_chunks::<2>();
            let entries = entries
                .iter()
                .map(|[key, value]| (key.clone(), value.clone()));
            FormKind::Map(entries.collect())
        }
    })
}

/// A form out of a tree: at each level one goes deeper or stays.
fn part(forms: &[Form], draw: Draw<'_>) -> Form {
    let mut forms = forms.to_vec();
    loop {
        if forms.is_empty() {
            return parsed("nil");
        }
        let form = forms[draw(forms.len())].clone();
        match items_of(&form) {
            Some(items) if !items.is_empty() && draw(3) > 0 => forms = items,
            _ => return form,
        }
    }
}

/// Puts forms into the places of a wrap: the wrapped one into the drawn place, atoms into the others.
fn filled(wrap: &Form, inner: &Form, draw: Draw<'_>) -> Form {
    match items_of(wrap) {
        Some(items) => {
            let items = items.iter().map(|item| filled(item, inner, draw)).collect();
            with_items(wrap, items)
        }
        None if wrap.as_symbol() == Some("_") => match draw(3) {
            0 => parsed(pick(&ATOMS, draw)),
            _ => inner.clone(),
        },
        None => wrap.clone(),
    }
}

/// A function of the library applied to the form and to atoms.
fn applied(inner: &Form, draw: Draw<'_>) -> Form {
    let library = Library::standard();
    let mut names: Vec<&str> = library.names().map(AsRef::as_ref).collect();
    names.sort_unstable();
    let name = pick(&names, draw);
    let mut items = vec![Form::symbol(name)];
    for _ in 0..draw(4) {
        items.push(match draw(3) {
            0 => inner.clone(),
            1 => parsed(pick(&ATOMS, draw)),
            _ => part(&sample(draw), draw),
        });
    }
    Form::list(items)
}

/// Changes one place of a row of forms.
fn change(forms: &mut Vec<Form>, draw: Draw<'_>) {
    if forms.is_empty() {
        forms.push(parsed(pick(&ATOMS, draw)));
        return;
    }
    let at = draw(forms.len());
    if let Some(mut items) = items_of(&forms[at])
        && draw(4) > 0
    {
        change(&mut items, draw);
        forms[at] = with_items(&forms[at], items);
        return;
    }
    match draw(9) {
        0 => drop(forms.remove(at)),
        1 => forms.insert(at, forms[at].clone()),
        2 => {
            let other = draw(forms.len());
            forms.swap(at, other);
        }
        3 | 4 => forms[at] = filled(&parsed(pick(&WRAPS, draw)), &forms[at], draw),
        5 => forms[at] = applied(&forms[at], draw),
        6 => forms[at] = part(&sample(draw), draw),
        7 => {
            // What stood there goes on as its own items.
            if let Some(items) = items_of(&forms[at]) {
                forms.splice(at..=at, items);
            }
        }
        _ => forms[at] = parsed(pick(&ATOMS, draw)),
    }
}

/// A sample with some changes, as source.
pub(crate) fn changed_program(draw: Draw<'_>) -> String {
    let mut forms = sample(draw);
    for _ in 0..=draw(5) {
        change(&mut forms, draw);
    }
    let forms: Vec<String> = forms.iter().map(ToString::to_string).collect();
    forms.join(" ")
}
