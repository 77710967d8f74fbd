//! Charges of copies of one account that are made at the same time, as one write.
//!
//! An allowance is one row, and DynamoDB takes about a thousand writes a second of it. While one charge is
//! under way, those that come meanwhile wait, and the next one charges for all of them: so the copies that a
//! process delivers at once cost one write in place of one each, and an account with an allowance leaves
//! some ten thousand copies a second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_model::AccountId;
use posthaste_store::StoreError;
use tokio::sync::oneshot;

/// Accounts of which charges are remembered to be under way.
const MOST_ACCOUNTS: usize = 1_000;

/// Whether a credit was taken.
type Charged = Result<bool, StoreError>;

/// The charges of a process.
#[derive(Default)]
pub(crate) struct Charges {
    accounts: Mutex<HashMap<AccountId, Arc<AccountCharges>>>,
}

#[derive(Default)]
struct AccountCharges {
    /// Those that the next charge pays for.
    waiting: Mutex<Vec<oneshot::Sender<Charged>>>,
    /// Held during a charge.
    turn: tokio::sync::Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Charges {
    fn of(&self, account: &AccountId) -> Arc<AccountCharges> {
        let mut accounts = lock(&self.accounts);
        if accounts.len() >= MOST_ACCOUNTS {
            accounts.retain(|_, one| Arc::strong_count(one) > 1);
        }
        Arc::clone(accounts.entry(account.clone()).or_default())
    }

    /// Charges one credit; `false` where the account has none left. `spend` takes so many and returns how
    /// many there were. If it fails it does for all that it was for: after one write that took its time to
    /// fail they do not wait for as many others, and their jobs are tried again.
    pub(crate) async fn charge<F>(
        &self,
        account: &AccountId,
        // Not an `AsyncFn`: the compiler does not find the future of that to be `Send`.
        spend: impl Fn(u32) -> F,
    ) -> Charged
    where
        F: Future<Output = Result<u32, StoreError>>,
    {
        let charges = self.of(account);
        loop {
            let (paid, mut is_paid) = oneshot::channel();
            lock(&charges.waiting).push(paid);
            let _turn = charges.turn.lock().await;
            match is_paid.try_recv() {
                Ok(charged) => return charged,
                // The copy that was to pay for this one is not worked on any more.
                Err(oneshot::error::TryRecvError::Closed) => continue,
                Err(oneshot::error::TryRecvError::Empty) => {}
            }
            let mut waiting = std::mem::take(&mut *lock(&charges.waiting));
            // A copy that is not worked on any more has no receiver.
            waiting.retain(|paid| !paid.is_closed());
            let count = u32::try_from(waiting.len()).unwrap_or(u32::MAX);
            let granted = spend(count).await;
            for (place, paid) in (0..).zip(waiting) {
                let charged = granted.clone().map(|granted| place < granted);
                // One that ended meanwhile.
                let _ = paid.send(charged);
            }
            if let Ok(charged) = is_paid.try_recv() {
                return charged;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::future::join_all;
    use posthaste_testkit::entropy;
    use tokio::sync::Semaphore;
    use tokio::time::timeout;

    use super::*;

    /// What of so many charges at the same time is paid, and how many credits each write took.
    async fn charged(count: usize, credits: u32, fails: usize) -> (Vec<Option<bool>>, Vec<u32>) {
        let (charges, account) = (Charges::default(), entropy().account_id());
        let (left, calls) = (Mutex::new(credits), Mutex::new(Vec::new()));
        // The first write ends once all of them have come.
        let come = Semaphore::new(0);
        let spend = |n: u32| {
            let (calls, left, come) = (&calls, &left, &come);
            async move {
                lock(calls).push(n);
                let is_first = lock(calls).len() == 1;
                if is_first {
                    let _come = come.acquire().await;
                }
                if lock(calls).len() <= fails {
                    return Err(StoreError::Unreachable("the table fails".to_owned()));
                }
                let mut left = lock(left);
                let granted = n.min(*left);
                *left -= granted;
                Ok(granted)
            }
        };
        let all = (0..count).map(|_| charges.charge(&account, &spend));
        let opens = async { come.add_permits(1) };
        let (paid, ()) = tokio::join!(join_all(all), opens);
        let calls = lock(&calls).clone();
        (paid.into_iter().map(Result::ok).collect(), calls)
    }

    #[tokio::test]
    async fn charges_at_the_same_time_are_one_write_after_the_first() {
        assert_eq!(charged(1, 9, 0).await, (vec![Some(true)], vec![1]));
        let (paid, calls) = charged(10, 100, 0).await;
        assert_eq!((paid, calls), (vec![Some(true); 10], vec![1, 9]));
    }

    #[tokio::test]
    async fn no_more_are_paid_than_there_are_credits() {
        let (paid, calls) = charged(10, 4, 0).await;
        assert_eq!(paid.iter().filter(|paid| **paid == Some(true)).count(), 4);
        assert_eq!(paid.iter().filter(|paid| **paid == Some(false)).count(), 6);
        assert_eq!(calls, [1, 9]);
    }

    #[tokio::test]
    async fn a_write_that_fails_fails_all_copies_that_it_was_for() {
        let (paid, calls) = charged(10, 100, 2).await;
        assert_eq!(paid, [None; 10]);
        assert_eq!(calls, [1, 9]);
        let (paid, calls) = charged(10, 100, 1).await;
        assert_eq!(paid.iter().filter(|paid| paid.is_none()).count(), 1);
        assert_eq!(paid.iter().filter(|paid| **paid == Some(true)).count(), 9);
        assert_eq!(calls, [1, 9]);
    }

    #[tokio::test]
    async fn a_copy_that_is_not_worked_on_any_more_is_not_paid_for() {
        let (charges, account) = (Charges::default(), entropy().account_id());
        let calls = Mutex::new(Vec::new());
        let spend = |n: u32| {
            lock(&calls).push(n);
            async move { Ok(n) }
        };
        let turn = charges.of(&account);
        let first = turn.turn.lock().await;
        let left = timeout(Duration::ZERO, charges.charge(&account, spend)).await;
        assert!(left.is_err());
        drop(first);
        assert_eq!(charges.charge(&account, spend).await, Ok(true));
        assert_eq!(*lock(&calls), [1]);
    }
}
