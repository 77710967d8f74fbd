use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;

use super::*;
use crate::{Guard, HttpAnswer, RequestStage, TokenProblem};

const START: Timestamp = Timestamp(1_000_000);

fn answered(code: u16) -> PostOutcome {
    PostOutcome::Answered(HttpAnswer {
        status: StatusCode::from_u16(code).unwrap(),
        retry_after: None,
        body_head: Bytes::new(),
        took_ms: 0,
    })
}

/// The offsets from the start at which attempts are made when all fail.
fn attempts(schedule: Schedule, roll: u64) -> Vec<i64> {
    let mut now = START;
    let mut made = vec![0];
    for attempt in 1.. {
        let next = schedule.next(Attempted {
            started: START,
            now,
            attempt,
            retry_after: None,
            roll,
        });
        match next {
            Next::GiveUp => break,
            Next::At(at) => now = at,
        }
        made.push(now.since(START));
    }
    made
}

#[test]
fn events_are_tried_at_growing_distances_until_a_day_is_over() {
    let made = attempts(Schedule::Events, 0);
    let minutes: Vec<_> = made.iter().map(|at| at / 30).collect();
    assert_eq!(minutes[..9], [0, 1, 3, 7, 15, 31, 63, 127, 255]);
    assert_eq!(made.last(), Some(&(24 * HOUR)));
    let gaps: Vec<_> = made.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let (_, before_last) = gaps.split_last().unwrap();
    assert!(before_last.is_sorted(), "{gaps:?}");
    assert!(gaps.iter().all(|gap| *gap <= 2 * HOUR), "{gaps:?}");
    assert_eq!(made.len(), 20);
}

#[test]
fn a_developer_waits_seconds_for_the_next_attempts() {
    let made = attempts(Schedule::QuickEvents, 0);
    assert_eq!(made[..6], [0, 1, 3, 7, 15, 31]);
    assert_eq!(made.last(), Some(&(24 * HOUR)));
}

#[test]
fn inbound_mail_is_tried_for_three_days_as_published() {
    for roll in [0, 1, 59, 12_345, u64::MAX] {
        let made = attempts(Schedule::Inbound, roll);
        assert_eq!(made.last(), Some(&(72 * HOUR)));
        let gaps: Vec<_> = made.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (at, gap) in made.iter().zip(&gaps).filter(|(at, _)| **at < 50 * MINUTE) {
            let usual = 5 * MINUTE..=10 * MINUTE;
            assert!(usual.contains(gap), "{gap} s after {at} s, roll {roll}");
        }
        let (_, later) = gaps.split_at(9);
        let (_, later) = later.split_last().unwrap();
        let usual = 3 * HOUR..=3 * HOUR + 36 * MINUTE;
        assert!(later.iter().all(|gap| usual.contains(gap)), "{later:?}");
    }
}

#[test]
fn jitter_spreads_by_at_most_a_fifth() {
    for schedule in [Schedule::Events, Schedule::Inbound] {
        for attempt in [0, 1, 2, 7, 9, 10, 50, u32::MAX] {
            let base = schedule.delay(attempt, 0);
            let most = (0..20_000).map(|roll| schedule.delay(attempt, roll)).max();
            assert!(base > 0, "{schedule:?} {attempt}");
            assert_eq!(most, Some(base + base / 5), "{schedule:?} {attempt}");
        }
    }
}

#[test]
fn retry_after_delays_and_never_hurries_or_leaves_the_window() {
    let window = Schedule::Events.window();
    let after = |seconds| Some(RetryAfter::In(Duration::from_secs(seconds)));
    for (age, retry_after, want) in [
        (0, None, Next::At(START.plus(30))),
        (0, after(1), Next::At(START.plus(30))),
        (0, after(300), Next::At(START.plus(300))),
        (0, after(u64::MAX), Next::At(START.plus(window))),
        (
            0,
            Some(RetryAfter::At(START.plus(77))),
            Next::At(START.plus(77)),
        ),
        (
            0,
            Some(RetryAfter::At(Timestamp(0))),
            Next::At(START.plus(30)),
        ),
        (window - 1, None, Next::At(START.plus(window))),
        (window, None, Next::GiveUp),
        (window, after(5), Next::GiveUp),
        (window + 99_999, None, Next::GiveUp),
        // A clock that went back.
        (-10, None, Next::At(START.plus(20))),
    ] {
        let next = Schedule::Events.next(Attempted {
            started: START,
            now: START.plus(age),
            attempt: 1,
            retry_after,
            roll: 0,
        });
        assert_eq!(next, want, "age {age}, {retry_after:?}");
    }
}

#[test]
fn an_outcome_is_done_retried_or_the_end() {
    let refusal = Guard::default().judge("10.0.0.1".parse().unwrap());
    let silence = [
        PostOutcome::TimedOut,
        PostOutcome::Refused(refusal.unwrap_err()),
        PostOutcome::NoToken(TokenProblem::Status(StatusCode::FORBIDDEN)),
        PostOutcome::Unreachable {
            stage: RequestStage::Name,
            detail: String::new(),
        },
    ];
    for outcome in silence {
        for schedule in [Schedule::Events, Schedule::Inbound] {
            assert_eq!(schedule.fate(&outcome), RetryFate::Retry, "{outcome:?}");
        }
    }
    for (code, events, inbound) in [
        (200, RetryFate::Done, RetryFate::Done),
        (204, RetryFate::Done, RetryFate::Done),
        (299, RetryFate::Done, RetryFate::Done),
        (301, RetryFate::Retry, RetryFate::End),
        (304, RetryFate::Retry, RetryFate::End),
        (400, RetryFate::Retry, RetryFate::End),
        (404, RetryFate::Retry, RetryFate::End),
        (410, RetryFate::Retry, RetryFate::End),
        (429, RetryFate::Retry, RetryFate::End),
        (500, RetryFate::Retry, RetryFate::Retry),
        (503, RetryFate::Retry, RetryFate::Retry),
        (599, RetryFate::Retry, RetryFate::Retry),
        (600, RetryFate::Retry, RetryFate::End),
    ] {
        assert_eq!(Schedule::Events.fate(&answered(code)), events, "{code}");
        assert_eq!(Schedule::Inbound.fate(&answered(code)), inbound, "{code}");
    }
}
