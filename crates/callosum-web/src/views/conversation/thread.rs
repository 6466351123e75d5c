//! [`Item`]: a thread of messages, or a discovery, in one stream.

use std::collections::HashMap;

use serde::Serialize;

use super::{Discovery, Message};

/// Most messages of a thread that are shown: the first, and the last ones.
const MOST_IN_THREAD: usize = 100;

/// An item of the stream.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Item {
    Thread(Thread),
    Discovery(Discovery),
}

/// A message with its answers, oldest first.
#[derive(Serialize)]
pub(super) struct Thread {
    pub(super) messages: Vec<Message>,
    /// Number of messages that are not shown.
    pub(super) left_out: usize,
}

impl Item {
    /// Time of the last message.
    fn at(&self) -> &str {
        match self {
            Self::Thread(thread) => {
                let times = thread.messages.iter();
                let times = times.map(|message| message.timestamp.as_str());
                times.max().unwrap_or_default()
            }
            Self::Discovery(discovery) => &discovery.timestamp,
        }
    }

    /// Whether an agent wrote or got it.
    pub(super) fn has_agent(&self, agent: &str) -> bool {
        match self {
            Self::Thread(thread) => {
                let mut messages = thread.messages.iter();
                messages.any(|message| message.agents().contains(&agent))
            }
            Self::Discovery(discovery) => discovery.source == agent,
        }
    }

    /// Text that the filter searches.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Thread(thread) => {
                let messages = thread.messages.iter().map(|message| {
                    let Message {
                        from,
                        to,
                        content,
                        state,
                        ..
                    } = message;
                    format!("{from} {to} {state} {content}")
                });
                messages.collect::<Vec<_>>().join("\n")
            }
            Self::Discovery(Discovery {
                source, content, ..
            }) => format!("discovery {source} {content}"),
        }
    }
}

/// Returns messages as threads, and discoveries, newest first.
pub(super) fn items(messages: Vec<Message>, discoveries: Vec<Discovery>) -> Vec<Item> {
    let threads = threads(messages).into_iter().map(Item::Thread);
    let mut items: Vec<Item> = threads
        .chain(discoveries.into_iter().map(Item::Discovery))
        .collect();
    items.sort_by_cached_key(|item| std::cmp::Reverse(item.at().to_owned()));
    items
}

/// Groups messages by the first of each thread.
fn threads(messages: Vec<Message>) -> Vec<Thread> {
    let place: HashMap<&str, usize> = messages
        .iter()
        .enumerate()
        .map(|(place, message)| (message.id.as_str(), place))
        .collect();
    let above: Vec<Option<usize>> = messages
        .iter()
        .map(|message| place.get(message.reply_to.as_deref()?).copied())
        .collect();
    let roots = roots(&above);
    let mut threads: Vec<Thread> = Vec::new();
    let mut of_root: HashMap<usize, usize> = HashMap::new();
    for (message, root) in messages.into_iter().zip(roots) {
        let thread = *of_root.entry(root).or_insert_with(|| {
            threads.push(Thread {
                messages: Vec::new(),
                left_out: 0,
            });
            threads.len() - 1
        });
        threads[thread].messages.push(message);
    }
    for thread in &mut threads {
        let all = &mut thread.messages;
        all.sort_by(|one, other| one.timestamp.cmp(&other.timestamp));
        if all.len() > MOST_IN_THREAD {
            thread.left_out = all.len() - MOST_IN_THREAD;
            all.drain(1..=thread.left_out);
        }
    }
    threads
}

/// Returns the first message of each one's thread. A circle of answers has the first of its messages in the list.
///
/// Each message is looked at a bounded number of times: what is found for one is found for all on its way.
fn roots(above: &[Option<usize>]) -> Vec<usize> {
    let mut roots: Vec<Option<usize>> = vec![None; above.len()];
    for start in 0..above.len() {
        let mut way = Vec::new();
        let mut at = start;
        let root = loop {
            if let Some(root) = roots[at] {
                break root;
            }
            // Marks it as visited, so that a circle ends here.
            roots[at] = Some(start);
            way.push(at);
            match above[at] {
                Some(next) => at = next,
                None => break at,
            }
        };
        for visited in way {
            roots[visited] = Some(root);
        }
    }
    roots.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_in_the_thread_of_the_first_message() {
        assert_eq!(
            roots(&[None, Some(0), Some(1), None, Some(3)]),
            [0, 0, 0, 3, 3]
        );
        // The answer is before the message in the list.
        assert_eq!(roots(&[Some(1), None]), [1, 1]);
    }

    #[test]
    fn a_circle_of_answers_is_one_thread() {
        assert_eq!(roots(&[Some(1), Some(2), Some(0), Some(2)]), [0, 0, 0, 0]);
        assert_eq!(roots(&[Some(0)]), [0]);
    }

    #[test]
    fn a_long_thread_is_linear_in_time() {
        let above: Vec<Option<usize>> = (0..100_000).map(|at: usize| at.checked_add(1)).collect();
        let above: Vec<_> = above
            .into_iter()
            .map(|next| next.filter(|next| *next < 100_000))
            .collect();
        let roots = roots(&above);
        assert!(roots.iter().all(|root| *root == 99_999));
    }
}
