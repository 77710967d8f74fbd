//! Takes the steps in the env and in the reference, and compares.
//!
//! After a crash either of two states is right. The reference then takes over the one that is,
//! after making sure that it is one of the two.

use posthaste_model::batch::{BATCH_LIFE, BatchStatus, Hold, PartStage};
use posthaste_model::{BatchId, Timestamp};
use posthaste_testkit::{Response, entropy};
use schedule_sweep::{Share, sweep};

use super::reference::{Course, Message, Reference, Wish};
use super::{Crash, Step};
use crate::env::{End, TestEnv};

struct Run {
    env: TestEnv,
    batches: Vec<BatchId>,
    begun: Timestamp,
    reference: Reference,
    /// How many entries of `TestEnv::left` were compared.
    compared: usize,
    /// After a crash the listing of a batch may be behind, and with it the answer to a wish that
    /// comes too late for some.
    vague: bool,
}

pub(super) async fn run(steps: &[Step]) {
    let mut env = TestEnv::new().await;
    let batches = vec![env.open_batch().await, env.open_batch().await];
    let mut run = Run {
        begun: env.now(),
        env,
        batches,
        reference: Reference::default(),
        compared: 0,
        vague: false,
    };
    for step in steps {
        Box::pin(run.take(step)).await;
        run.compare();
    }
    run.finish().await;
}

impl Run {
    fn light(&self, crash: Crash) {
        if let Some((calls, deaf)) = crash {
            self.env.faults.fail_after(calls, deaf);
        }
    }

    /// Whether the process died in the step.
    fn died(&mut self) -> bool {
        let died = self.env.faults.restore();
        self.vague |= died;
        died
    }

    async fn take(&mut self, step: &Step) {
        match *step {
            // Only as long as the batch ids are valid: what mail/send refuses is not tested here.
            Step::Pass { seconds } => {
                let age = self.env.now().since(self.begun) + seconds;
                if age < BATCH_LIFE {
                    self.env.hand.advance(seconds);
                }
            }
            Step::Accept { wait, batch, crash } => self.accept(wait, batch, crash).await,
            Step::Deliver { crash } => self.deliver(crash).await,
            Step::Sweep { crash } => {
                self.light(crash);
                let swept = self.env.try_sweep().await;
                if !self.died() {
                    let swept = swept.unwrap();
                    assert_eq!((swept.failed, swept.unreadable), (0, 0));
                    self.caught_up().await;
                }
            }
            Step::SweepTwice => {
                let app = &self.env.app;
                let (a, b) = tokio::join!(sweep(app, Share::ALL), sweep(app, Share::ALL));
                assert_eq!(a.unwrap().failed + b.unwrap().failed, 0);
                self.env.collect();
            }
            Step::Hold {
                batch,
                status,
                crash,
            } => self.hold(batch, status, crash).await,
            Step::Turn {
                batch,
                status,
                crash,
            } => self.turn(batch, status, crash).await,
            Step::Resume { batch, crash } => self.resume(batch, crash).await,
            Step::CancelMessage { which, crash } => self.cancel_message(which, crash).await,
            Step::MoveMessage { which, wait, crash } => {
                self.move_message(which, wait, crash).await;
            }
        }
    }

    async fn accept(&mut self, wait: i64, batch: Option<usize>, crash: Crash) {
        let id = entropy().message_id();
        let at = self.env.now().plus(wait);
        let latest = self.env.now().plus(posthaste_model::HORIZON);
        let name = batch.map(|batch| self.batches[batch].clone());
        self.light(crash);
        let accepted = self.env.accept(&id, 0, at, name.as_ref()).await.is_ok();
        assert!(self.died() || accepted);
        self.reference.messages.push(Message {
            id,
            accepted_at: self.env.now(),
            at,
            latest,
            batch,
            course: Course::Waiting,
            accepted,
        });
    }

    /// A worker that died may have decided about a message without finishing it.
    async fn deliver(&mut self, crash: Crash) {
        self.light(crash);
        let done = self.env.deliver().await;
        if !self.died() {
            assert!(done);
        }
        self.compare();
        let now = self.env.now();
        for i in 0..self.reference.messages.len() {
            let message = self.reference.messages[i].clone();
            if message.course != Course::Waiting {
                continue;
            }
            let Some(stage) = self.stage(&message).await else {
                continue;
            };
            let end = match stage {
                PartStage::Waiting => continue,
                PartStage::Gone => End::Sent,
                PartStage::Cancelled => End::Dropped("Cancelled"),
                PartStage::Expired => End::Dropped("Expired"),
            };
            assert_eq!(
                self.reference.verdict(&message, now),
                Some(end.clone()),
                "{message:?}"
            );
            self.reference.messages[i].course = Course::Decided(end);
        }
    }

    async fn stage(&self, message: &Message) -> Option<PartStage> {
        let pieces = self
            .env
            .store
            .pieces(self.env.account(), &message.id)
            .await
            .unwrap();
        pieces.first().map(|row| row.value.stage)
    }

    async fn actual(&self, batch: usize) -> Option<Wish> {
        let (account, now) = (self.env.account(), self.env.now());
        let hold = self
            .env
            .store
            .hold_on(account, &self.batches[batch], now)
            .await
            .unwrap();
        hold.map(|Hold { status, since }| Wish {
            cancel: status == BatchStatus::Cancel,
            since,
        })
    }

    /// Takes over what became of a wish, which is one of these two.
    async fn settle(
        &mut self,
        batch: usize,
        before: Option<Wish>,
        after: Option<Wish>,
        died: bool,
    ) {
        let actual = self.actual(batch).await;
        assert!(
            actual == after || died && actual == before,
            "{actual:?} {before:?} {after:?}"
        );
        self.reference.wishes[batch] = actual;
    }

    fn check_late(&self, answer: &Response, late: bool) -> bool {
        let said = answer.status == 400 && answer.error().1.contains("leaves within");
        assert!(said == late || self.vague, "{answer:?}");
        said
    }

    async fn hold(&mut self, batch: usize, status: &'static str, crash: Crash) {
        let before = self.reference.wishes[batch];
        let since = self.env.now();
        let late = self.reference.is_too_late(batch, since);
        let name = self.batches[batch].clone();
        self.light(crash);
        let answer = self.env.hold(&name, status).await;
        let died = self.died();
        let cancel = status == "cancel";
        let mut after = before.or(Some(Wish { cancel, since }));
        if !died {
            let valid = self
                .env
                .store
                .batch_exists(self.env.account(), &name, since)
                .await;
            let valid = valid.unwrap();
            if !valid || self.check_late(&answer, late) {
                after = before;
            }
            let created = valid && before.is_none() && after.is_some();
            assert_eq!(answer.status, if created { 201 } else { 400 });
        }
        self.settle(batch, before, after, died).await;
    }

    async fn turn(&mut self, batch: usize, status: &'static str, crash: Crash) {
        let before = self.reference.wishes[batch];
        let late = before.is_some_and(|wish| self.reference.is_too_late(batch, wish.since));
        let name = self.batches[batch].clone();
        self.light(crash);
        let answer = self.env.turn(&name, status).await;
        let died = self.died();
        let cancel = status == "cancel";
        let mut after = before.map(|wish| Wish { cancel, ..wish });
        if !died {
            if before.is_none() {
                assert_eq!(answer.status, 404);
            } else if self.check_late(&answer, late) {
                after = before;
            } else {
                assert_eq!(answer.status, 204);
            }
        }
        self.settle(batch, before, after, died).await;
    }

    async fn resume(&mut self, batch: usize, crash: Crash) {
        let before = self.reference.wishes[batch];
        let name = self.batches[batch].clone();
        self.light(crash);
        let answer = self.env.resume(&name).await;
        let died = self.died();
        if !died {
            assert_eq!(answer.status, if before.is_some() { 204 } else { 404 });
        }
        self.settle(batch, before, None, died).await;
    }

    async fn cancel_message(&mut self, which: usize, crash: Crash) {
        let Some(message) = self.reference.messages.get(which).cloned() else {
            return;
        };
        if !message.accepted {
            return;
        }
        self.light(crash);
        let answer = self.env.cancel_message(&message.id).await;
        let died = self.died();
        let waiting = message.course == Course::Waiting;
        if !died {
            let dropped = End::Dropped("Cancelled");
            let already = [
                Course::Cancelled,
                Course::Decided(dropped.clone()),
                Course::Ended(dropped),
            ];
            let possible = waiting || already.contains(&message.course);
            assert_eq!(
                answer.status,
                if possible { 204 } else { 400 },
                "{message:?}"
            );
        }
        let cancelled = self.stage(&message).await == Some(PartStage::Cancelled);
        assert!(cancelled || died || !waiting);
        if waiting && cancelled {
            self.reference.messages[which].course = Course::Cancelled;
        }
    }

    async fn move_message(&mut self, which: usize, wait: i64, crash: Crash) {
        let Some(message) = self.reference.messages.get(which).cloned() else {
            return;
        };
        if !message.accepted {
            return;
        }
        let now = self.env.now();
        let to = now.plus(wait).max(now);
        self.light(crash);
        let answer = self.env.move_message(&message.id, now.plus(wait)).await;
        let died = self.died();
        let waiting = message.course == Course::Waiting;
        let pieces = self
            .env
            .store
            .pieces(self.env.account(), &message.id)
            .await
            .unwrap();
        let at = pieces[0].value.at;
        if died {
            assert!(at == message.at || waiting && at == to);
        } else if answer.status == 200 {
            assert!(waiting && at == to && !self.reference.is_way_out(&message, to));
        } else {
            // Not knowing what is in the queue, the reference cannot tell when a message may not be
            // brought forward; but it may always be put off.
            assert_eq!(answer.status, 400);
            let later = to >= message.at && to <= message.latest;
            let put_off = waiting && later && !self.reference.is_way_out(&message, to);
            assert!(
                at == message.at && !put_off,
                "{message:?} {to:?} {answer:?}"
            );
        }
        self.reference.messages[which].at = at;
    }

    /// Every new end is the one the reference names, and the first of its message.
    fn compare(&mut self) {
        while let Some(left) = self.env.left.get(self.compared).cloned() {
            self.compared += 1;
            let known = self
                .reference
                .messages
                .iter()
                .position(|m| m.id == left.message);
            let i = known.expect("a message that was handed in");
            let message = self.reference.messages[i].clone();
            let verdict = self.reference.verdict(&message, left.at.seconds());
            assert_eq!(verdict, Some(left.end.clone()), "{left:?} {message:?}");
            self.reference.messages[i].course = Course::Ended(left.end);
        }
    }

    /// After a sweep and all that is in the queue, nothing is left that should have ended.
    async fn caught_up(&mut self) {
        self.deliver(None).await;
        let now = self.env.now();
        for message in self.reference.messages.iter().filter(|m| m.accepted) {
            // A message cancelled alone is dropped at its time.
            if now >= message.at {
                let verdict = self.reference.verdict(message, now);
                assert_eq!(
                    verdict, None,
                    "{message:?} at {now:?}: {:?}",
                    self.reference.wishes
                );
            }
        }
    }

    /// Long enough for everything to end, whatever the wishes.
    async fn finish(&mut self) {
        let last = self.reference.messages.iter().map(|m| m.at).max();
        let last = last.unwrap_or(Timestamp(0)).max(self.env.now());
        for end in [
            self.env.now(),
            last,
            last.plus(73 * 3600),
            last.plus(74 * 3600),
        ] {
            self.env.hand.set(end);
            for _ in 0..2 {
                self.env.sweep().await;
                self.caught_up().await;
                self.compare();
            }
        }
        for message in self.reference.messages.iter().filter(|m| m.accepted) {
            assert!(matches!(message.course, Course::Ended(_)), "{message:?}");
        }
        let account = self.env.account().clone();
        for batch in &self.batches {
            let held = self.env.store.held(&account, batch).await.unwrap();
            assert!(held.is_empty(), "{held:?}");
        }
        let minutes = self.env.store.due_minutes(self.env.now()).await.unwrap();
        assert_eq!(minutes, []);
    }
}
