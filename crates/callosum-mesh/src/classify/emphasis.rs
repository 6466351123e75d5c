//! Weights of words by their place: the task that is asked for counts most, words in passing least.
//!
//! "Write a landing page for our Docker tool" asks for a landing page. Docker is in passing.

use std::{collections::HashSet, sync::LazyLock};

use super::{lexicon_match::LexiconMatch, text::Text};

/// The request up to its first adjunct: the verb and its object.
const OBJECT: f64 = 1.25;
/// The rest of the request, after its first object: "a press release: our new architecture".
const LATER: f64 = 0.85;
/// Other sentences that ask for something.
const REQUEST: f64 = 0.9;
/// Sentences around the request.
const CONTEXT: f64 = 0.55;
/// The same, if the request refers to them: "here are the notes. What do they add up to?"
const REFERRED: f64 = 0.75;
/// The request after "for", "about", "because" and the like, relative to the rest of it.
const ADJUNCT: f64 = 0.4;
/// The same, if the rest of the request names nothing that is known.
const LONE_ADJUNCT: f64 = 0.8;
/// Sentences that set something aside.
const ASIDE: f64 = 0.25;
/// Fenced blocks, and the middle of a long prompt.
const PASTED: f64 = 0.25;

/// Words at the beginning and at the end that are read as written by the author; those between are pasted.
const HEAD: usize = 400;
const TAIL: usize = 120;

/// Words that begin an adjunct: its words are not what is asked for.
static ADJUNCTS: Words = LazyLock::new(|| {
    set(
        "for about because since after before while when whenever like that which who whose so but \
                        although though if unless despite where during regarding explaining announcing",
    )
});

/// Words that may precede the verb of a request.
static FILLERS: Words = LazyLock::new(|| {
    set(
        "please pls plz hey hi hello ok okay so now then also just can could would will you u i we need \
                       want like lets let us to id help me go and ahead kindly claude codex gemini quick quickly first \
                       finally next again maybe should must have todo task goal tldr",
    )
});

/// Verbs that open a request and say nothing about its category.
static VERBS: Words = LazyLock::new(|| {
    set(
        "push get make cut publish send submit produce create generate give show tell help run bring see look turn \
         use put take keep ensure drop cover finish continue prepare provide return say start stop try reproduce \
         figure determine verify confirm collect gather tidy answer advise suggest offer pull sort settle outline \
         sketch renew move open close book translate convert undo do save",
    )
});

/// Words that ask.
static QUESTIONS: Words = LazyLock::new(|| {
    set("what which how why who where when is are does do can could should would will")
});

/// Words of a sentence that sets something aside: "the copy comes later", "the database is settled".
static ASIDES: Words = LazyLock::new(|| {
    set(
        "later settled already separately fyi background someone irrelevant aside unchanged matter eventually",
    )
});

/// Words by which a request is set apart from what comes later: "First: which projects use it?"
static NOW: Words = LazyLock::new(|| set("first today now task"));

/// Words that begin a request with its circumstances: "For each service, list …", "Before we drop it, find …".
static CIRCUMSTANCES: Words =
    LazyLock::new(|| set("for in from with on before after once using given as at based"));

/// Words that refer to another sentence.
static PRONOUNS: Words = LazyLock::new(|| set("they them these those both it this everything"));

/// Words that deny what follows. "Isn't" and "can't" are not among them: they describe what is wrong.
static DENIALS: Words = LazyLock::new(|| {
    set("not dont no without never ignore ignoring except skip shouldnt unrelated nothing")
});

/// Words after which a denial denies nothing: "not sure whether", "not only".
static UNDENIED: Words = LazyLock::new(|| {
    set("sure only just clear certain know yet convinced idea matter enough longer")
});

/// Most words that a denial reaches.
const DENIED: usize = 5;

type Words = LazyLock<HashSet<&'static str>>;

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

/// Returns the weight of every word.
pub(super) fn emphasis(text: &Text<'_>, hits: &[LexiconMatch]) -> Vec<f64> {
    let words = &text.words;
    let mut is_action: Vec<bool> = words
        .iter()
        .map(|word| VERBS.contains(word.plain.as_str()))
        .collect();
    let mut is_evidence = vec![false; text.questions.len()];
    for hit in hits {
        if hit.length > 0 && hit.concept.is_action() {
            is_action[hit.word] = true;
        }
        if let Some(word) = words.get(hit.word)
            && !hit.concept.is_coding()
        {
            is_evidence[word.sentence] = true;
        }
    }
    let mut asks = requests(text, &is_action);
    let mut is_aside = vec![false; text.questions.len()];
    for word in words {
        is_aside[word.sentence] |= ASIDES.contains(word.plain.as_str());
    }
    let aside = |sentence: usize| is_aside[sentence] && !text.questions[sentence];
    for (sentence, asks) in asks.iter_mut().enumerate() {
        *asks &= !aside(sentence);
    }
    let is_main = |sentence: &usize| asks[*sentence] && is_evidence[*sentence];
    let sentences = 0..text.questions.len();
    let mut is_now = vec![false; text.questions.len()];
    for (at, word) in words.iter().enumerate() {
        let begins = at == 0 || words[at - 1].sentence != word.sentence;
        is_now[word.sentence] |= begins && NOW.contains(word.plain.as_str());
    }
    let main = sentences
        .clone()
        .filter(is_main)
        .find(|sentence| is_now[*sentence]);
    let main = main.or_else(|| sentences.clone().find(is_main));
    let main = main.or_else(|| sentences.clone().find(|sentence| is_evidence[*sentence]));
    let objects = hits
        .iter()
        .filter(|hit| hit.length > 0 && !hit.concept.is_action());
    let in_main = |hit: &&LexiconMatch| words.get(hit.word).map(|word| word.sentence) == main;
    let object = objects
        .filter(in_main)
        .map(|hit| hit.word + hit.length)
        .min();
    let mut asked = words.iter().filter(|word| asks[word.sentence]);
    let refers = object.is_none() || asked.any(|word| PRONOUNS.contains(word.plain.as_str()));
    let place = PromptContext {
        text,
        is_action: &is_action,
        asks: &asks,
        main,
        object,
        refers,
        is_aside: &is_aside,
    };
    let weights = place.weights(ADJUNCT);
    let names_object = |hit: &LexiconMatch| {
        let weight = weights.get(hit.word).copied().unwrap_or(0.0);
        !hit.concept.is_action() && weight >= OBJECT
    };
    if hits.iter().any(names_object) {
        return weights;
    }
    // "Get this ready for TestFlight": only the adjunct names what the task is about.
    place.weights(LONE_ADJUNCT)
}

/// A prompt whose requests are known.
struct PromptContext<'a> {
    text: &'a Text<'a>,
    is_action: &'a [bool],
    asks: &'a [bool],
    main: Option<usize>,
    /// The end of the first object of the request.
    object: Option<usize>,
    refers: bool,
    is_aside: &'a [bool],
}

impl PromptContext<'_> {
    /// Returns the weight of every word, if words of an adjunct have this share of it.
    fn weights(&self, adjunct: f64) -> Vec<f64> {
        let (words, is_action, asks) = (&self.text.words, self.is_action, self.asks);
        let mut weights = Vec::with_capacity(words.len());
        let mut is_adjunct = false;
        let mut denied = 0;
        for (at, word) in words.iter().enumerate() {
            let begins = at == 0 || words[at - 1].sentence != word.sentence;
            if begins {
                (is_adjunct, denied) = (false, 0);
            }
            if word.opens_clause {
                (is_adjunct, denied) = (false, 0);
            }
            let follows_link = at > 0
                && (word.opens_clause
                    || matches!(words[at - 1].plain.as_str(), "and" | "then" | "to"));
            if begins || (is_action[at] && follows_link) {
                is_adjunct = false;
            }
            if ADJUNCTS.contains(word.plain.as_str()) && !begins {
                is_adjunct = true;
            }
            let is_later = self.object.is_some_and(|end| at >= end);
            let place = if Some(word.sentence) == self.main {
                if is_later { LATER } else { OBJECT }
            } else if asks[word.sentence] {
                REQUEST
            } else if self.is_aside[word.sentence] {
                ASIDE
            } else if self.refers {
                REFERRED
            } else {
                CONTEXT
            };
            let is_middle = at >= HEAD && at + TAIL < words.len();
            let mut weight = if word.is_pasted || is_middle {
                PASTED
            } else {
                place
            };
            if is_adjunct {
                weight *= adjunct;
            }
            if denied > 0 {
                weight = 0.0;
                denied -= 1;
            }
            let next = words.get(at + 1).map_or("", |next| next.plain.as_str());
            if DENIALS.contains(word.plain.as_str()) && !UNDENIED.contains(next) {
                denied = DENIED;
            }
            if word.plain == "instead" || word.plain == "rather" {
                denied = DENIED;
            }
            weights.push(weight);
        }
        weights
    }
}

/// Returns for every sentence if it asks for something.
fn requests(text: &Text<'_>, is_action: &[bool]) -> Vec<bool> {
    let mut asks = text.questions.clone();
    let mut is_open = true;
    let mut is_late = false;
    let mut current = usize::MAX;
    for (at, word) in text.words.iter().enumerate() {
        if word.sentence != current {
            current = word.sentence;
            is_open = true;
            is_late = CIRCUMSTANCES.contains(word.plain.as_str());
            if QUESTIONS.contains(word.plain.as_str()) {
                asks[current] = true;
            }
        }
        if (is_open || is_late) && is_action[at] {
            asks[current] = true;
        }
        if matches!(word.plain.as_str(), "please" | "pls" | "plz") {
            asks[current] = true;
        }
        let word_at = |at: usize| text.words.get(at).map_or("", |word| word.plain.as_str());
        let before = at.checked_sub(1).map_or("", word_at);
        let earlier = at.checked_sub(2).map_or("", word_at);
        let is_own = matches!(before, "i" | "we" | "id") || matches!(earlier, "i" | "we" | "id");
        let is_wish = match word.plain.as_str() {
            "need" | "want" | "have" | "like" => {
                is_own && matches!(word_at(at + 1), "to" | "you" | "a" | "an" | "the" | "one")
            }
            "can" | "could" => word_at(at + 1) == "you",
            _ => false,
        };
        if is_wish {
            asks[current] = true;
        }
        is_open &= FILLERS.contains(word.plain.as_str());
    }
    asks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::lexicon_match::LEXICON;

    fn weight_of(prompt: &str, word: &str) -> f64 {
        let text = Text::read(prompt);
        let hits = LEXICON.find(&text);
        let at = text.words.iter().position(|it| it.plain == word).unwrap();
        emphasis(&text, &hits)[at]
    }

    #[test]
    fn the_object_outweighs_words_in_passing() {
        let prompt = "Write a landing page for our Docker tool";
        assert!(weight_of(prompt, "landing") > 2.0 * weight_of(prompt, "docker"));
        let prompt = "Our Docker build is slow. Please write a tagline. Thanks.";
        assert!(weight_of(prompt, "tagline") > 2.0 * weight_of(prompt, "docker"));
    }

    #[test]
    fn what_is_denied_has_no_weight() {
        assert!(
            weight_of("review it, don't touch the Dockerfile", "dockerfile").abs() < f64::EPSILON
        );
        assert!(weight_of("not sure if we want Kafka here", "kafka") > 0.0);
    }

    #[test]
    fn a_second_verb_ends_an_adjunct() {
        let prompt = "Look at the numbers for May, and draft a newsletter";
        assert!(weight_of(prompt, "newsletter") > weight_of(prompt, "may"));
    }
}
