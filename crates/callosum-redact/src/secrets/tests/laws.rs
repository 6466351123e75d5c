//! Properties of masking for any text.

use proptest::prelude::*;

use super::{
    command_lines::{COMMANDS, with},
    *,
};

/// Whether chance has put letters together that a reader takes for a word about passwords.
fn reads_as_words(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    ["key", "pwd", "md5", "xxx", "fake"]
        .iter()
        .any(|word| lower.contains(word))
}

proptest! {
    /// A process may show its working folder, with any random name.
    #[test]
    fn a_working_folder_is_never_masked(folders in "(/[A-Za-z0-9._-]{1,24}){1,5}", old in "(OLD)?") {
        let text = format!("\"{old}PWD\": \"{folders}\"");
        prop_assert_eq!(mask(&text).text, text);
    }

    /// A sufficiently random value assigned to a name of a secret is masked, and nothing else is.
    #[test]
    fn a_random_value_of_a_telling_name_is_masked(
        name in "(DB_|my|)(password|api_key|SECRET)",
        value in "[a-f][0-9][A-Za-z0-9]{22,40}",
    ) {
        prop_assume!(value.bytes().collect::<std::collections::BTreeSet<_>>().len() > 10);
        prop_assume!(!["your", "fake", "xxx"].iter().any(|word| value.to_lowercase().contains(word)));
        let text = format!("{name} = \"{value}\";");
        prop_assert_eq!(mask(&text).text, format!("{name} = \"[secret: assigned value]\";"));
    }

    /// CAL-SEC-1: no secret of a known form is left on a command line.
    #[test]
    fn no_secret_on_a_command_line_is_left(
        form in 0..COMMANDS.len(),
        secret in "(secret|password|token|key|user)?[A-Za-z0-9][A-Za-z0-9!#%+.~^_-]{7,40}",
        before in "(ls; |cd x && |env A=b |sudo |time )?",
    ) {
        let command = format!("{before}{}", with(COMMANDS[form], &secret));
        let masked = mask_command(&command).text;
        prop_assert!(!masked.contains(&secret), "{}\n{}", command, masked);
        prop_assert_eq!(&mask_command(&masked).text, &masked);
    }

    #[test]
    fn no_command_makes_masking_panic(text in "(?s)(mysql -p|curl -u|--token|password|sudo -S|echo |://|Authorization:|pass:|[a-z@:='\"|;&\\\\$é \n-]{0,8}){0,16}") {
        let once = mask_command(&text).text;
        prop_assert!(once.len() + text.len() < 1 << 20);
    }

    /// LOA-SEC-1: what is random goes wherever settings give it to a password, and a line stays a line.
    #[test]
    fn a_random_password_of_a_setting_is_masked(
        name in "(DB_|my|spring\\.)?(password|passwd|PASSWORD)", mark in "(: |=| = )",
        value in "[b-df-h][0-9][A-Z][a-z][0-9][b-dm-z]{2}[0-9][A-Z0-9]{0,9}", before in "(a: b\n|\n)?",
    ) {
        prop_assume!(!reads_as_words(&value));
        let text = format!("{before}{name}{mark}{value}\nnext: line\n");
        let masked = mask_in_place(&text).text;
        prop_assert_eq!(&masked, &format!("{before}{name}{mark}[secret: assigned value]\nnext: line\n"));
    }

    /// LOA-SEC-1: random letters are masked if a name marks them as a secret, with or without a
    /// digit.
    #[test]
    fn letters_without_words_are_masked_beside_a_telling_name(
        name in "(API_TOKEN=|DB_PASSWORD=|SECRET_KEY=|secret=|password=|password: |token: \"|passwd=')",
        value in "([b-df-hj-np-tv-z][A-Z]?[bcdfghjklmnpqrtvwxz][0-9]?){6,12}",
    ) {
        prop_assume!(!reads_as_words(&value));
        let quote = name.chars().last().filter(|last| "\"'".contains(*last)).map(String::from).unwrap_or_default();
        let text = format!("{name}{value}{quote}\n");
        prop_assert_eq!(mask(&text).text, format!("{name}[secret: assigned value]{quote}\n"));
    }

    #[test]
    fn masking_in_place_keeps_the_lines(text in "(?s)(password=|Pwd=|;Server=|-----BEGIN PRIVATE KEY-----|[a-zA-Z0-9+/]{30}|[a-zA-Z0-9'\" \n:=-]{0,12}){0,12}") {
        let masked = mask_in_place(&text).text;
        prop_assert_eq!(masked.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn masking_twice_is_masking_once(text in "(?s)(password=|ghp_|://a:|@b|-----BEGIN PRIVATE KEY-----|[a-zA-Z0-9'\" \n:=-]{0,12}){0,12}") {
        let once = mask(&text).text;
        prop_assert_eq!(&mask(&once).text, &once);
    }
}
