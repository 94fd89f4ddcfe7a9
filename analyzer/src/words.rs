//! Words of messages: lists in a sentence, and suggestions for misspelt names.

/// Maximum length of a word that gets a suggestion, in bytes. *Chosen*: no name is longer, and the cost
/// of a comparison is the product of both lengths.
const WORD_MAX: usize = 64;

/// Minimum length of a word that stands for a longer one that begins with it. *Chosen*: shorter ones begin many.
const BEGIN_MIN: usize = 4;

/// Names in a sentence: `a`, `a and b`, `a, b and c`.
pub fn in_sentence(names: &[String], conjunction: &str) -> String {
    match names {
        [] | [_] => names.concat(),
        [others @ .., last] => format!("{} {conjunction} {last}", others.join(", ")),
    }
}

/// `did you mean …?`, if one of the words is similar or begins with the word.
pub fn did_you_mean<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<String> {
    if word.len() > WORD_MAX {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let chars = word.chars().count();
    let near = (chars / 3).max(1);
    let words: Vec<&str> = words.into_iter().collect();
    let similar = words
        .iter()
        // The difference of the lengths is a lower bound of the distance.
        .filter(|other| other.chars().count().abs_diff(chars) <= near)
        .map(|other| (strsim::damerau_levenshtein(&lower, &other.to_ascii_lowercase()), other))
        .filter(|(distance, _)| *distance <= near)
        .min_by_key(|(distance, other)| (*distance, *other))
        .map(|(_, other)| other);
    let longer = || words.iter().filter(|other| chars >= BEGIN_MIN && begins(other, &lower));
    let found = similar.or_else(|| longer().min_by_key(|other| (other.len(), **other)))?;
    Some(format!("did you mean `{found}`?"))
}

fn begins(name: &str, with: &str) -> bool {
    name.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with))
}
