//! Letter pairs of words and names, which are rare in random text.
//!
//! Start with [`is_random`]. It knows no words: a made-up word that looks like one counts as one.
//! Deliberately not here: the name that a value is assigned to, which its callers know.

/// Frequency of the second letter after the first within words: 0 to 7, each step twice as often,
/// where 4 is the value if all pairs were equally common. Counted over the 17,000 words that occur
/// in three crates or more, each word once, of 9,000 files of sources and papers.
const FOLLOWS: [&[u8; 26]; 26] = [
    b"16651351503756050667443241",
    b"52214100530610410342400020",
    b"62426216505532730546420030",
    b"53347221611332520453432120",
    b"63675552412657353776354640",
    b"41224400600411510433300020",
    b"41226123401324320542400000",
    b"51025000500121510323300010",
    b"54665550102557650466150305",
    b"10003000100000200000100000",
    b"21115000400101110132100000",
    b"62247220701622630244421050",
    b"63126200500241550142400000",
    b"62666572504324630367441020",
    b"34552441403657460755545210",
    b"61336214501521640645401010",
    b"00000000000000000000400000",
    b"62447330603444730566441040",
    b"52537225603332551267522042",
    b"62437315701432640665522150",
    b"44434230400546250555000100",
    b"50206000500010310011000000",
    b"40113002400113320331000000",
    b"20213100300000030014000100",
    b"21202100300223140131001000",
    b"20004000200000100000000000",
];

/// Below this mean, letters are random: 96 of 100 random values of 16 letters of either case are, 98 with digits among them, and
/// 8 of 1,000 names of programs.
const RANDOM: f64 = 3.75;

/// The same for a value split by marks, as constants and paths are; some of their words are
/// abbreviations.
const RANDOM_PARTED: f64 = 3.0;

/// Frequency of the start of a word, or of a number after one.
const BOUNDARY: u32 = 4;

/// Frequency of letters after a number without a mark or a capital, such as in `sha256sum`, or next
/// to a mark that separates nothing.
const BESIDE_NONE: u32 = 1;

/// Marks that passwords have, and that part no words of a name.
const PARTS_NONE: &[u8] = b"!#%*+^&~";

/// Fewest pairs that allow a decision.
const FEWEST: u32 = 6;

/// Whether the letters and digits of a value are next to each other as in no word.
pub(super) fn is_random(value: &str) -> bool {
    let (mut sum, mut pairs) = (0, 0);
    for pair in value.as_bytes().windows(2) {
        if let Some(how_common) = how_common(pair[0], pair[1]) {
            sum += how_common;
            pairs += 1;
        }
    }
    let is_parted = value.contains(['_', '-', '.', '/', ':']);
    let bound = if is_parted { RANDOM_PARTED } else { RANDOM };
    pairs >= FEWEST && f64::from(sum) < bound * f64::from(pairs)
}

/// Returns the frequency of a pair of bytes; `None` if a mark separates them, or they are digits.
fn how_common(first: u8, second: u8) -> Option<u32> {
    let letter = |byte: u8| usize::from(byte.to_ascii_lowercase() - b'a');
    if first.is_ascii_digit() && second.is_ascii_alphabetic() {
        return Some(BESIDE_NONE);
    }
    if PARTS_NONE.contains(&first) || PARTS_NONE.contains(&second) {
        return Some(BESIDE_NONE);
    }
    if !first.is_ascii_alphabetic() {
        return None;
    }
    let is_boundary = first.is_ascii_lowercase() && second.is_ascii_uppercase();
    if second.is_ascii_digit() || is_boundary {
        return Some(BOUNDARY);
    }
    second
        .is_ascii_alphabetic()
        .then(|| u32::from(FOLLOWS[letter(first)][letter(second)] - b'0'))
}

#[cfg(test)]
mod tests {
    use proptest::{
        collection::vec,
        prelude::*,
        strategy::ValueTree,
        test_runner::{RngAlgorithm, TestRng, TestRunner},
    };

    use super::*;

    /// LOA-SEC-1: nearly all random values are recognized, from any letters.
    #[test]
    fn random_letters_are_known_as_such() {
        let config = proptest::test_runner::Config::default();
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config, rng);
        for form in [
            "[a-z]{16}",
            "[a-zA-Z]{16}",
            "[a-zA-Z0-9]{16}",
            "[a-zA-Z0-9]{24}",
            "[a-z0-9]{16}",
        ] {
            let values = vec(proptest::string::string_regex(form).unwrap(), 500);
            let values = values.new_tree(&mut runner).unwrap().current();
            let known = values.iter().filter(|value| is_random(value)).count();
            assert!(known >= 465, "{form}: {known} of 500");
        }
    }

    /// LOA-SEC-1: names as programs have them are not.
    #[test]
    fn names_of_programs_are_not_random() {
        for name in [
            "hunterhunter",
            "get_password_v2",
            "sha256_digest_of_the_file",
            "accessTokenProvider",
            "MAX_TOKENS_PER_REQUEST",
            "HTTPSConnectionPool",
            "parse_header_field_value",
            "base64EncodedString",
            "x509CertificateChain",
            "argon2idHasher",
            "kubernetesServiceAccount",
            "tokenizer2024",
            "postgresqlDatabase",
            "src/main/java/com/acme",
            "aarch64-unknown-linux-gnu",
        ] {
            assert!(!is_random(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(value in "\\PC{0,40}") {
            prop_assert!(!is_random(&value) || value.len() > 6);
        }
    }
}
