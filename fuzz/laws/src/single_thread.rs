//! One thread for everything: a law that analyses a capture need not wake others for it.

use rayon::{ThreadPool, ThreadPoolBuilder};

thread_local! {
    static ALONE: Option<ThreadPool> =
        ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok();
}

/// From now on this thread does by itself what it fans out. Handing a few characters to another costs
/// more than all that is made of them.
pub fn use_one_thread() {
    ALONE.with(|_| {});
}

#[cfg(test)]
mod tests {
    use super::use_one_thread;

    #[test]
    fn what_is_fanned_out_stays_in_the_thread() {
        use_one_thread();
        let own = std::thread::current().id();
        let [one, other] = [0; 2].map(|_| || std::thread::current().id());
        assert_eq!(rayon::join(one, other), (own, own));
        assert_eq!(rayon::current_num_threads(), 1);
    }
}
