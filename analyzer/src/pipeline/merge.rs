//! Merges lists that are each in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::vec::IntoIter;

/// Emits the items of several ordered lists in order of their keys, then of the lists.
pub(super) fn merged<K: Ord + Copy, T>(
    lists: Vec<Vec<T>>,
    key: impl Fn(&T) -> K,
    out: &mut impl FnMut(T),
) {
    let mut lists: Vec<IntoIter<T>> = lists.into_iter().map(Vec::into_iter).collect();
    let next = |list: &IntoIter<T>| list.as_slice().first().map(&key);
    let mut heads: BinaryHeap<Reverse<(K, usize)>> = BinaryHeap::new();
    heads.extend(lists.iter().enumerate().filter_map(|(n, list)| Some(Reverse((next(list)?, n)))));
    while let Some(Reverse((_, number))) = heads.pop() {
        let Some(list) = lists.get_mut(number) else { continue };
        let beyond = heads.peek().copied();
        // This list is ahead of all others.
        while let Some(head) = next(list).map(|key| Reverse((key, number))) {
            if beyond.is_some_and(|beyond| head < beyond) {
                heads.push(head);
                break;
            }
            list.next().into_iter().for_each(&mut *out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_in_order_become_one_list_in_order() {
        let lists = vec![vec![(1, 'a'), (4, 'a'), (4, 'b')], vec![], vec![(0, 'c'), (4, 'c')]];
        let mut all = Vec::new();
        merged(lists, |(key, _)| *key, &mut |item| all.push(item));
        assert_eq!(all, [(0, 'c'), (1, 'a'), (4, 'a'), (4, 'b'), (4, 'c')]);
    }
}
