//! The seeded pseudo-random number generator. Each host and channel has its own stream, so that no
//! part's draws depend on another's.
//!
//! It is xoshiro256** 1.0, seeded by splitmix64, both by Blackman and Vigna. *Chosen*: small, fast and
//! well tested. Golden captures must not change, so a test holds the numbers of a seed.

use rand_xoshiro::rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256StarStar};

/// Pseudo-random number generator of one part of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rng(Xoshiro256StarStar);

impl Rng {
    /// The generator of a part, given the seed of the run and the number of the stream.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        // The seed is mixed before the stream is added: seed 1 stream 2 is not seed 2 stream 1.
        let mixed = SplitMix64::seed_from_u64(seed).next_u64().wrapping_add(stream);
        Self(Xoshiro256StarStar::from_rng(&mut SplitMix64::seed_from_u64(mixed)))
    }

    /// 64 uniform bits.
    #[inline]
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number below `n`; 0 if `n` is 0.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        if n <= 1 {
            return 0;
        }
        // Lemire: the high half of a product is below n; the few low halves that would make some
        // numbers more likely than others, 2⁶⁴ mod n of them, are drawn again.
        let uneven = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            let [low, high] = halves(product);
            if low >= uneven {
                return high;
            }
        }
    }

    /// A uniform number from `first` to `last`, inclusive.
    pub(crate) fn between(&mut self, first: u64, last: u64) -> u64 {
        match last.saturating_sub(first).checked_add(1) {
            Some(count) => first + self.below(count),
            None => self.next_u64(),
        }
    }

    /// True with probability `share` / 65 536.
    pub(crate) fn chance(&mut self, share: u16) -> bool {
        self.next_u64() >> 48 < u64::from(share)
    }

    /// Exponentially distributed time with this mean, rounded, at least 1.
    pub(crate) fn exponential(&mut self, mean: u64) -> u64 {
        /// 2⁵³: the integers below it are exact in an `f64`.
        const ONE: f64 = 9_007_199_254_740_992.0;
        // In (0, 1], so that the logarithm is finite.
        let share = ((self.next_u64() >> 11) + 1) as f64 / ONE;
        let time = -libm::log(share) * mean as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let whole = (time + 0.5) as u64;
        whole.max(1)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "each half has 64 bits")]
const fn halves(product: u128) -> [u64; 2] {
    [product as u64, (product >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws<const N: usize>(rng: &mut Rng) -> [u64; N] {
        std::array::from_fn(|_| rng.next_u64())
    }

    #[test]
    fn seed_and_stream_give_different_numbers() {
        let first: Vec<[u64; 2]> = [(1, 2), (2, 1), (0, 0), (0, 1), (1, 1)]
            .map(|(seed, stream)| draws(&mut Rng::new(seed, stream)))
            .to_vec();
        for (place, drawn) in first.iter().enumerate() {
            assert!(!first[..place].contains(drawn));
        }
        assert_eq!(draws::<4>(&mut Rng::new(7, 3)), draws::<4>(&mut Rng::new(7, 3)));
    }

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        assert_eq!(
            draws(&mut Rng::new(7, 3)),
            [1_324_432_678_665_595_309, 18_239_979_339_167_307_115, 13_637_619_389_288_228_656]
        );
        assert_eq!(Rng::new(7, 3).exponential(1_000_000), 2_633_904);
    }

    #[test]
    fn numbers_below_a_bound_are_uniform() {
        let mut rng = Rng::new(7, 0);
        let mut counts = [0; 6];
        for _ in 0..60_000 {
            counts[usize::try_from(rng.below(6)).unwrap()] += 1;
        }
        assert!(counts.iter().all(|count| (9_700..10_300).contains(count)), "{counts:?}");
        assert_eq!((rng.below(0), rng.below(1)), (0, 0));
        assert!((0..100).all(|_| rng.below(u64::MAX) < u64::MAX));
    }

    #[test]
    fn numbers_between_two_reach_both() {
        let mut rng = Rng::new(7, 1);
        let drawn: Vec<_> = (0..200).map(|_| rng.between(5, 8)).collect();
        assert_eq!(drawn.iter().min().zip(drawn.iter().max()), Some((&5, &8)));
        assert_eq!(rng.between(9, 9), 9);
        assert_eq!(rng.between(9, 3), 9);
        rng.between(0, u64::MAX);
    }

    #[test]
    fn an_event_occurs_with_its_probability() {
        let mut rng = Rng::new(7, 2);
        let count = (0..65_536).filter(|_| rng.chance(16_384)).count();
        assert!((15_900..16_900).contains(&count), "{count}");
        assert!(!(0..1000).any(|_| rng.chance(0)));
    }

    #[test]
    fn exponential_times_have_their_mean_and_are_at_least_one() {
        let mut rng = Rng::new(7, 4);
        let sum: u64 = (0..10_000).map(|_| rng.exponential(1000)).sum();
        assert!((9_700_000..10_300_000).contains(&sum), "{sum}");
        assert!((0..1000).all(|_| rng.exponential(0) == 1 && rng.exponential(1) >= 1));
        assert!(rng.exponential(u64::MAX) > 1);
    }
}
