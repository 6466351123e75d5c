//! Estimates the number of tokens of a text, which is its share of a context window.
//!
//! No tokenizer runs: loading one takes 300 ms, and each model has its own. [`estimate`] counts
//! what tokenizers cut along (words, digits, marks, line breaks) and weighs the counts. The weights
//! were fitted on 704 files against the o200k_base tokenizer, and tried on 704 others of the same
//! kinds (Rust, Python, JavaScript, Perl, C, Markdown, plain text, JSON, TOML, YAML, of 0.5 to 200
//! KB): half of those estimates are within 4 % of the count, nine in ten within 10 %. Plain
//! division by bytes gets 10 and 25 %. Worst are long runs of one letter and minified code, where
//! the estimate may be several times too high.
//!
//! Letters beyond ASCII are weighed by their script, by what the older cl100k_base makes of the
//! messages of programs in 35 languages; o200k_base takes a quarter to a half fewer for most of
//! them. Of Chinese in traditional characters, German and Polish the estimate is about a tenth
//! below one of the two.
//!
//! An estimate must be marked as one: store [`METHOD`] or [`METHOD_BY_SIZE`] next to it.

/// Name of the method of [`estimate`], so that its numbers are not taken for counts.
pub const METHOD: &str = "estimate:lexical/2";

/// Names the way that [`estimate_bytes`] takes.
pub const METHOD_BY_SIZE: &str = "estimate:bytes-per-token/1";

/// Kind of a text, as far as the length of its tokens goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Source code.
    Code,
    /// Sentences for people.
    Prose,
    /// JSON and similar notations: short tokens, many marks.
    Json,
}

/// Weights of the counted units, in thousandths of a token.
mod weight {
    pub(super) const WORD: u64 = 926;
    pub(super) const LETTER_BEYOND_FIVE: u64 = 81;
    pub(super) const THREE_DIGITS: u64 = 1369;
    pub(super) const MARKS: u64 = 633;
    pub(super) const FURTHER_MARK: u64 = 297;
    pub(super) const LINE_BREAK: u64 = 1489;
    pub(super) const WIDE_BLANK: u64 = 1024;
    pub(super) const BYTE_BEYOND_ASCII: u64 = 778;
}

/// Class of a run of bytes that belong together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Blank,
    Mark,
    Other,
}

/// Estimates how many tokens a text is, in one pass over its bytes.
pub fn estimate(text: &str) -> u64 {
    let mut rest = text;
    let mut thousandths = 0;
    while let Some(first) = rest.bytes().next() {
        let class = class_of(first);
        // A run ends next to ASCII, and so never within a letter.
        let (run, after) = rest.split_at(run_length(rest.as_bytes(), class));
        thousandths += weigh(class, run);
        rest = after;
    }
    thousandths.div_ceil(1000)
}

/// Estimates the tokens of a text from its size and kind, without the text.
///
/// Uses the averages of the files named above. A single file may well be 25 % off, JSON 50 %.
pub fn estimate_bytes(kind: TextKind, bytes: u64) -> u64 {
    let hundredths_of_a_byte = match kind {
        TextKind::Code => 360,
        TextKind::Prose => 375,
        TextKind::Json => 270,
    };
    bytes.saturating_mul(100).div_ceil(hundredths_of_a_byte)
}

fn class_of(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => Class::Blank,
        0..0x80 => Class::Mark,
        0x80.. => Class::Other,
    }
}

/// Returns the length of the run at the beginning; `someName` is two words, as tokenizers see it.
fn run_length(bytes: &[u8], class: Class) -> usize {
    let goes_on = |pair: &[u8]| {
        let new_word = pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        class_of(pair[1]) == class && !new_word
    };
    1 + bytes.windows(2).take_while(|pair| goes_on(pair)).count()
}

fn weigh(class: Class, run: &str) -> u64 {
    let length = run.len() as u64;
    match class {
        Class::Letter => weight::WORD + length.saturating_sub(5) * weight::LETTER_BEYOND_FIVE,
        Class::Digit => length.div_ceil(3) * weight::THREE_DIGITS,
        Class::Mark => weight::MARKS + (length - 1) * weight::FURTHER_MARK,
        Class::Other => run.chars().map(beyond_ascii).sum(),
        Class::Blank if run.contains('\n') => weight::LINE_BREAK,
        // One blank belongs to the word after it.
        Class::Blank if length > 1 => weight::WIDE_BLANK,
        Class::Blank => 0,
    }
}

/// Weights of letters by script, from its first letter to its last.
const SCRIPTS: [(char, char, u64); 14] = [
    // Greek, Cyrillic, Armenian, Hebrew, Arabic.
    ('\u{370}', '\u{3ff}', 1100),
    ('\u{400}', '\u{52f}', 600),
    ('\u{530}', '\u{58f}', 2100),
    ('\u{590}', '\u{5ff}', 1200),
    ('\u{600}', '\u{6ff}', 900),
    // Devanagari, Thai, Ethiopic.
    ('\u{900}', '\u{97f}', 1300),
    ('\u{e00}', '\u{e7f}', 1000),
    ('\u{1200}', '\u{139f}', 2950),
    // Latin with further accents, as Vietnamese has them; dashes, quotation marks and arrows.
    ('\u{1e00}', '\u{1eff}', 1556),
    ('\u{2000}', '\u{22ff}', 1200),
    // Kana and the marks that are set with it, Chinese, Korean.
    ('\u{3000}', '\u{30ff}', 1000),
    ('\u{ff00}', '\u{ffef}', 1000),
    ('\u{4e00}', '\u{9fff}', 1300),
    ('\u{ac00}', '\u{d7a3}', 1200),
];

/// Returns the weight of a letter beyond ASCII, by its script.
fn beyond_ascii(letter: char) -> u64 {
    let of_letter = |&&(first, last, _): &&(char, char, u64)| (first..=last).contains(&letter);
    match SCRIPTS.iter().find(of_letter) {
        Some(&(_, _, weight)) => weight,
        None => letter.len_utf8() as u64 * weight::BYTE_BEYOND_ASCII,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// CAL-PERF-1: tokens are estimated, not counted; the estimate stays near what o200k_base counts.
    #[test]
    fn estimates_are_near_the_counts_of_a_real_tokenizer() {
        for (text, counted) in [
            ("", 0),
            (
                "The quick brown fox jumps over the lazy dog, and nobody minds.\n",
                14,
            ),
            (
                "fn main() {\n    let total = sum(&[1, 2, 3]);\n    println!(\"{total}\");\n}\n",
                25,
            ),
            (
                "{\"task_id\": \"cal_2026_01_02_0001\", \"tokens_used\": 1234}\n",
                25,
            ),
        ] {
            let estimated = estimate(text);
            assert!(
                estimated.abs_diff(counted) * 4 <= counted,
                "{estimated} for {counted} of {text:?}"
            );
        }
    }

    /// CAL-PERF-1: in other scripts the estimate stays near what cl100k_base counts.
    #[test]
    fn estimates_of_other_scripts_are_near_the_count_too() {
        for (text, counted) in [
            ("プールのソケットは三十秒後に閉じる", 18),
            ("接続プールを一つだけ使うことに決めた", 19),
            ("我们决定使用单一连接池，并在三十秒后重试。", 19),
            ("我們決定使用單一連接池", 14),
            ("연결 풀을 하나만 사용하기로 결정했습니다.", 19),
            ("Мы решили использовать один пул соединений.", 18),
            ("Αποφασίσαμε να χρησιμοποιήσουμε μία σύνδεση.", 42),
            ("החלטנו להשתמש בחיבור אחד בלבד", 26),
            ("قررنا استخدام اتصال واحد فقط", 20),
            ("हमने केवल एक कनेक्शन का उपयोग करने का निर्णय लिया", 47),
            ("เราตัดสินใจใช้การเชื่อมต่อเพียงอันเดียว", 32),
            ("Մենք որոշեցինք օգտագործել մեկ կապ", 62),
            ("አንድ ግንኙነት ብቻ ለመጠቀም ወስነናል", 59),
        ] {
            let estimated = estimate(text);
            assert!(
                estimated * 10 >= counted * 9 && estimated * 2 <= counted * 3,
                "{estimated} for {counted} of {text:?}"
            );
        }
    }

    #[test]
    fn sizes_alone_give_whole_tokens() {
        assert_eq!(estimate_bytes(TextKind::Code, 0), 0);
        assert_eq!(estimate_bytes(TextKind::Code, 1), 1);
        assert_eq!(estimate_bytes(TextKind::Code, 3600), 1000);
        assert_eq!(estimate_bytes(TextKind::Json, 2700), 1000);
        assert!(estimate_bytes(TextKind::Prose, u64::MAX) > 0);
    }

    proptest! {
        #[test]
        fn more_text_is_never_fewer_tokens(text in ".{0,80}", more in ".{0,80}") {
            let both = text.clone() + &more;
            prop_assert!(estimate(&both) + 1 >= estimate(&text));
            prop_assert!(estimate(&both) <= 2 * both.len() as u64 + 1);
        }
    }
}
