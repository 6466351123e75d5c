//! Laws of the language that hold for any program, over generated and mutated ones.

#![expect(clippy::unwrap_used, reason = "what a test cannot unwrap has failed")]

use callosum_plan::{Form, FormKind, read, read_one};
use proptest::{
    prelude::{Just, ProptestConfig, Strategy, any, prop, prop_oneof},
    prop_assert_eq, proptest,
};

fn atom() -> impl Strategy<Value = FormKind> {
    prop_oneof![
        Just(FormKind::Nil),
        any::<bool>().prop_map(FormKind::Boolean),
        any::<i64>().prop_map(FormKind::Integer),
        any::<f64>().prop_map(FormKind::Float),
        any::<String>().prop_map(|text| FormKind::Text(text.into())),
        "[a-z0-9][a-z0-9./*-]{0,8}".prop_map(|name| FormKind::Keyword(name.into())),
        "s[a-zA-Z0-9_$+*/=<>!?%.@-]{0,8}".prop_map(|name| FormKind::Symbol(name.into())),
        Just(FormKind::Symbol("&".into())),
        Just(FormKind::Symbol(":".into())),
    ]
}

fn form() -> impl Strategy<Value = Form> {
    let leaf = atom().prop_map(Form::built);
    leaf.prop_recursive(5, 40, 6, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..6);
        prop_oneof![
            items.clone().prop_map(FormKind::Vector),
            items.prop_map(FormKind::List),
            prop::collection::vec((inner.clone(), inner), 0..4).prop_map(FormKind::Map),
        ]
        .prop_map(Form::built)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// CCOS-RTFS-1: what is printed reads as what was printed, and prints as itself.
    #[test]
    fn printed_forms_read_as_themselves(form in form()) {
        let printed = form.to_string();
        let read = read_one(&printed).unwrap();
        prop_assert_eq!(&read, &form);
        prop_assert_eq!(read.to_string(), printed);
    }

    #[test]
    fn no_text_makes_the_reader_fail_otherwise_than_by_an_error(text in any::<String>()) {
        if let Err(error) = read(&text) {
            let range = error.span.range();
            prop_assert_eq!(text.get(range.clone()).is_some(), true, "{:?}", range);
        }
    }
}
