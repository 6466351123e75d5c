//! Notes and keys against the forms that others write, and against foreign bytes.

use proptest::prelude::*;

use super::*;

/// The key and note of the documentation of Go's `sumdb/note`.
const GO_PRIVATE: &str =
    "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
const GO_VERIFIER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const GO_TEXT: &str = "If you think cryptography is the answer to your problem,\n\
                       then you don't know what your problem is.\n";
const GO_NOTE: &str = "If you think cryptography is the answer to your problem,\n\
                       then you don't know what your problem is.\n\n\
                       \u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

/// CAL-GOV-4: keys and signatures are those that other tools make and take.
#[test]
fn a_note_of_another_program_is_read_checked_and_made_again() {
    let key: VerifierKey = GO_VERIFIER.parse().unwrap();
    assert_eq!(key.to_string(), GO_VERIFIER);
    let note = SignedNote::parse(GO_NOTE).unwrap();
    assert_eq!(note.text(), GO_TEXT);
    assert_eq!(note.standing(&key), NoteStatus::Signed);
    let signing = SigningKey::from_private_text(GO_PRIVATE).unwrap();
    assert_eq!(signing.to_private_text(), GO_PRIVATE);
    assert_eq!(signing.verifier(), key);
    let again = SignedNote::new(GO_TEXT.to_owned(), vec![signing.sign(GO_TEXT)]).unwrap();
    assert_eq!(again.to_string(), GO_NOTE);
    assert!(!format!("{signing:?}").contains("AYEKFALV"));
}

/// CAL-GOV-4: one changed bit of text or signature is a wrong signature.
#[test]
fn a_changed_note_is_wrong_and_another_key_is_not_named() {
    let key: VerifierKey = GO_VERIFIER.parse().unwrap();
    for at in 0..GO_TEXT.len() - 1 {
        let mut bytes = GO_NOTE.as_bytes().to_vec();
        bytes[at] ^= 1;
        let changed = String::from_utf8(bytes).unwrap();
        if let Ok(note) = SignedNote::parse(&changed) {
            assert_eq!(note.standing(&key), NoteStatus::Wrong, "{changed}");
        }
    }
    let other = SigningKey::from_seed("PeterNeumann", &[7; 32]).unwrap();
    let note = SignedNote::parse(GO_NOTE).unwrap();
    assert_eq!(note.standing(&other.verifier()), NoteStatus::NotNamed);
    let renamed = key.named("Peter").unwrap();
    assert!(renamed.is_same_bytes(&key));
    assert_eq!(note.standing(&renamed), NoteStatus::NotNamed);
    // A right signature next to a wrong one of the same key does not count.
    let good = note.signatures()[0].clone();
    let mut bad = good.clone();
    bad.signature[10] ^= 1;
    let both = SignedNote::new(GO_TEXT.to_owned(), vec![good, bad]).unwrap();
    assert_eq!(both.standing(&key), NoteStatus::Wrong);
}

#[test]
fn what_is_no_key_is_refused_with_its_reason() {
    let check = |text: &str, why| assert_eq!(text.parse::<VerifierKey>(), Err(why), "{text}");
    check("", InvalidKey::Form);
    check("a+b", InvalidKey::Form);
    check(&GO_VERIFIER.replace("c74f20a3", "c74f20a4"), InvalidKey::Id);
    check(
        &GO_VERIFIER.replace("c74f20a3", "+74f20a3"),
        InvalidKey::Form,
    );
    check(&GO_VERIFIER.replace("PeterNeumann", "P"), InvalidKey::Id);
    check(
        &GO_VERIFIER.replace("PeterNeumann", "P N"),
        InvalidKey::Name,
    );
    check(&GO_VERIFIER.replace("ARpc", "Ahpc"), InvalidKey::Algorithm);
    for name in ["", "a b", "a+b", "a\u{a0}b", "a\nb"] {
        assert!(SigningKey::from_seed(name, &[1; 32]).is_err(), "{name:?}");
    }
}

#[test]
fn what_is_no_note_is_refused_with_its_reason() {
    let check = |text: &str, why| assert_eq!(SignedNote::parse(text), Err(why), "{text:?}");
    check("", InvalidNote::Form);
    check("text\n", InvalidNote::Form);
    check("te\tt\n\n", InvalidNote::Control);
    check("text\n\n", InvalidNote::Form);
    check("text\n\nx\n", InvalidNote::Signature { line: 1 });
    check(
        "text\n\n\u{2014} a AAAA\n",
        InvalidNote::Signature { line: 1 },
    );
    check("text\n\n\u{2014} a AAAAAAAA", InvalidNote::Form);
    let many = format!("text\n\n{}", "\u{2014} a AAAAAAAA\n".repeat(65));
    check(&many, InvalidNote::TooMany);
    let empty_line = SignedNote::parse("a\n\nb\n\n\u{2014} a AAAAAAAA\n").unwrap();
    assert_eq!(empty_line.text(), "a\n\nb\n");
    assert!(SignedNote::new("no line end".to_owned(), Vec::new()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// CAL-GOV-4: a note reads as printed, or not at all.
    #[test]
    fn a_note_that_is_read_prints_as_it_was(text in "[ -~\u{2014}\n]{0,80}", name in "[a-z/.]{1,9}", seed in any::<[u8; 32]>()) {
        let key = SigningKey::from_seed(&name, &seed).unwrap();
        if let Ok(note) = SignedNote::new(text.clone(), vec![key.sign(&text)]) {
            let read = SignedNote::parse(&note.to_string()).unwrap();
            prop_assert_eq!(&read, &note);
            prop_assert_eq!(read.standing(&key.verifier()), NoteStatus::Signed);
        }
        if let Ok(note) = SignedNote::parse(&text) {
            prop_assert_eq!(note.to_string(), text);
        }
    }
}
