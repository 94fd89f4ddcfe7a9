//! History of a conversation as a line of letters, as Zeek prints it: one word per message.

/// Maximum number of words per conversation. *Chosen*: a line or two of a terminal, as repeated
/// words are merged.
const WORDS_MAX: usize = 32;

/// Maximum number of letters of a word after abbreviation. *Chosen*: a message with more had
/// trouble for a long time.
const LETTERS_MAX: usize = 24;

/// Maximum number of letters of a message searched for repetitions. *Chosen*: ten times the length
/// of a word.
pub(super) const RAW_MAX: usize = 256;

/// History of a conversation, one word per message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageHistory {
    words: Vec<(String, u64)>,
    /// Number of omitted words.
    more: u64,
}

impl MessageHistory {
    /// Adds the letters of a message as one word.
    pub fn add(&mut self, letters: impl Iterator<Item = char>) {
        let word = shortened(&letters.take(RAW_MAX).collect::<Vec<char>>());
        if word.is_empty() {
            return;
        }
        let full = self.words.len() >= WORDS_MAX;
        match self.words.last_mut() {
            Some((last, times)) if *last == word && self.more == 0 => *times += 1,
            Some(_) if full => self.more += 1,
            Some(_) | None => self.words.push((word, 1)),
        }
    }

    /// The history as a line.
    pub fn line(&self) -> String {
        let word = |(word, times): &(String, u64)| match times {
            1 => word.clone(),
            times => format!("({word}){times}"),
        };
        let mut words: Vec<String> = self.words.iter().map(word).collect();
        if self.more > 0 {
            words.push(format!("…{}", self.more));
        }
        words.join(" ")
    }
}

/// Abbreviates repeated letters and pairs: `DNRNRNRA` is `D(NR)3A`.
fn shortened(letters: &[char]) -> String {
    let (mut text, mut rest, mut written) = (String::new(), letters, 0);
    while let [first, others @ ..] = rest {
        if written >= LETTERS_MAX {
            text.push('…');
            break;
        }
        let found = [1, 2].into_iter().find_map(|len| {
            let times = repeats(rest, len);
            (times >= 3).then_some((len, times))
        });
        let before = text.chars().count();
        match (found, found.and_then(|(len, _)| rest.get(..len))) {
            (Some((len, times)), Some(unit)) => {
                let unit: String = unit.iter().collect();
                let shown = if len == 1 { unit } else { format!("({unit})") };
                text += &format!("{shown}{times}");
                rest = rest.get(len * times..).unwrap_or_default();
            }
            (_, _) => {
                text.push(*first);
                rest = others;
            }
        }
        written += text.chars().count() - before;
    }
    text
}

/// Number of consecutive repetitions of the first `len` letters.
fn repeats(letters: &[char], len: usize) -> usize {
    let unit = letters.get(..len).unwrap_or_default();
    letters.chunks_exact(len).take_while(|chunk| *chunk == unit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(words: &[&str]) -> String {
        let mut history = MessageHistory::default();
        words.iter().for_each(|word| history.add(word.chars()));
        history.line()
    }

    #[test]
    fn what_repeats_stands_once_and_a_history_has_an_end() {
        assert_eq!(history(&["SA", "DA", "DA", "dRA", "DA"]), "SA (DA)2 dRA DA");
        assert_eq!(history(&["DNRNRNRA"]), "D(NR)3A");
        assert_eq!(history(&["DRRRRA"]), "DR4A");
        assert_eq!(history(&["DRRA", ""]), "DRRA");
        let words: Vec<String> =
            (0..100).map(|n| if n % 2 == 0 { "DA" } else { "dRA" }.to_owned()).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert!(history(&words).ends_with("dRA …68"));
        let mixed: String = "DRANTO".repeat(100);
        assert_eq!(history(&[&mixed]), "DRANTODRANTODRANTODRANTO…");
    }
}
