use posthaste_model::Timestamp;
use posthaste_store::{Account, Allowance, Frequency, Store};

use crate::{NOW, new_account};

async fn allot(store: &Store, account: &Account, frequency: Option<Frequency>) -> Account {
    let allowance = Allowance {
        frequency,
        total: 100,
    };
    assert!(
        store
            .set_credits(&account.id, Some(allowance), NOW)
            .await
            .unwrap()
    );
    store.account(&account.id).await.unwrap().unwrap()
}

async fn state(store: &Store, account: &Account, now: Timestamp) -> (i64, i64, i64) {
    let credits = store.credits(&account.id, now).await.unwrap().unwrap();
    (credits.remain, credits.used, credits.total)
}

#[tokio::test]
async fn an_account_without_an_allowance_spends_what_it_likes() {
    let (store, account) = new_account().await;
    assert_eq!(
        store.spend_credits(&account, 1_000_000, NOW).await,
        Ok(1_000_000)
    );
    assert_eq!(store.credits(&account.id, NOW).await, Ok(None));
    assert_eq!(store.adjust_credits(&account.id, 5, NOW).await, Ok(None));
    // An instance that has not yet heard that the allowance is gone.
    let metered = allot(&store, &account, None).await;
    assert!(metered.metered);
    assert!(store.set_credits(&account.id, None, NOW).await.unwrap());
    assert_eq!(store.spend_credits(&metered, 1_000, NOW).await, Ok(1_000));
}

#[tokio::test]
async fn what_is_past_the_allowance_is_not_granted() {
    let (store, account) = new_account().await;
    let account = allot(&store, &account, None).await;
    for (n, granted, left) in [(60, 60, 40), (0, 0, 40), (60, 40, 0), (1, 0, 0)] {
        assert_eq!(
            store.spend_credits(&account, n, NOW).await,
            Ok(granted),
            "{n}"
        );
        assert_eq!(state(&store, &account, NOW).await, (left, 100 - left, 100));
    }
    store.return_credits(&account, 30, NOW).await.unwrap();
    assert_eq!(state(&store, &account, NOW).await, (30, 70, 100));
    store.return_credits(&account, 1_000, NOW).await.unwrap();
    assert_eq!(state(&store, &account, NOW).await, (100, 0, 100));
}

#[tokio::test]
async fn many_who_spend_at_once_spend_each_credit_once() {
    let (store, account) = new_account().await;
    let account = allot(&store, &account, Some(Frequency::Daily)).await;
    for now in [NOW, NOW.next_day()] {
        let spend = (0..40).map(|_| store.spend_credits(&account, 3, now));
        let granted = futures_util::future::try_join_all(spend).await.unwrap();
        assert_eq!(granted.iter().sum::<u32>(), 100, "{granted:?}");
        assert_eq!(state(&store, &account, now).await, (0, 100, 100));
    }
}

#[tokio::test]
async fn a_recurring_allowance_is_filled_up_at_midnight() {
    for (frequency, next) in [
        (Frequency::Daily, NOW.next_day()),
        (Frequency::Weekly, NOW.next_week()),
        (Frequency::Monthly, NOW.next_month()),
    ] {
        let (store, account) = new_account().await;
        let account = allot(&store, &account, Some(frequency)).await;
        assert_eq!(store.spend_credits(&account, 150, NOW).await, Ok(100));
        assert_eq!(store.spend_credits(&account, 1, next.plus(-1)).await, Ok(0));
        assert_eq!(state(&store, &account, next).await, (100, 0, 100));
        assert_eq!(store.spend_credits(&account, 1, next).await, Ok(1));
        assert_eq!(state(&store, &account, next).await, (99, 1, 100));
    }
}

#[tokio::test]
async fn what_is_left_can_be_changed_but_not_below_zero() {
    let (store, account) = new_account().await;
    let once = allot(&store, &account, None).await;
    assert_eq!(store.spend_credits(&once, 10, NOW).await, Ok(10));
    for (by, want) in [
        (50, (140, 10, 150)),
        (-100, (40, 10, 50)),
        (-1_000, (0, 10, 10)),
        (i64::MIN, (0, 10, 10)),
    ] {
        assert!(
            store
                .adjust_credits(&account.id, by, NOW)
                .await
                .unwrap()
                .is_some()
        );
        assert_eq!(state(&store, &account, NOW).await, want, "{by}");
    }
    // A recurring one is as large as before in the next period.
    allot(&store, &account, Some(Frequency::Daily)).await;
    store.adjust_credits(&account.id, 5, NOW).await.unwrap();
    assert_eq!(state(&store, &account, NOW).await, (105, 0, 100));
    assert_eq!(state(&store, &account, NOW.next_day()).await, (100, 0, 100));
}

#[tokio::test]
async fn an_allowance_given_anew_is_not_undone_by_whoever_was_spending() {
    let (store, account) = new_account().await;
    for _ in 0..10 {
        let account = allot(&store, &account, None).await;
        assert_eq!(store.spend_credits(&account, 99, NOW).await, Ok(99));
        let fresh = Allowance {
            frequency: None,
            total: 500,
        };
        let (set, spent) = tokio::join!(
            store.set_credits(&account.id, Some(fresh), NOW),
            store.spend_credits(&account, 5, NOW),
        );
        assert!(set.unwrap());
        let (remain, used, total) = state(&store, &account, NOW).await;
        // The spender came before the change, or after it.
        assert!(
            (remain, used) == (500, 0) || (remain, used) == (495, 5),
            "{spent:?} {used}"
        );
        assert_eq!(total, 500);
    }
}
