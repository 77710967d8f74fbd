//! Random interleavings of accept, sweep, deliver, cancel, pause, resume, move and crash against a
//! reference that knows nothing of rows: it remembers what was asked for, and says how a message
//! must end if it ends now.

mod reference;
mod run;

use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};
use proptest::{collection, option};

/// A process that dies after so many calls to the outside; whether the last was carried out though
/// its answer was lost.
type Crash = Option<(u32, bool)>;

/// One step.
#[derive(Clone, Debug)]
enum Step {
    /// A mail for so many seconds from now.
    Accept {
        wait: i64,
        batch: Option<usize>,
        crash: Crash,
    },
    Sweep {
        crash: Crash,
    },
    /// Two sweeps at once.
    SweepTwice,
    Deliver {
        crash: Crash,
    },
    Pass {
        seconds: i64,
    },
    Hold {
        batch: usize,
        status: &'static str,
        crash: Crash,
    },
    Turn {
        batch: usize,
        status: &'static str,
        crash: Crash,
    },
    Resume {
        batch: usize,
        crash: Crash,
    },
    CancelMessage {
        which: usize,
        crash: Crash,
    },
    MoveMessage {
        which: usize,
        wait: i64,
        crash: Crash,
    },
}

fn crash() -> impl Strategy<Value = Crash> {
    option::weighted(0.25, (0..14_u32, proptest::bool::ANY))
}

fn status() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("pause"), Just("cancel")]
}

fn wait() -> impl Strategy<Value = i64> {
    prop_oneof![1..400_i64, 300..1_500_i64, 1_000..9_000_i64]
}

fn step() -> impl Strategy<Value = Step> {
    let batch = 0..2_usize;
    let which = 0..8_usize;
    prop_oneof![
        6 => (wait(), option::weighted(0.8, batch.clone()), crash())
            .prop_map(|(wait, batch, crash)| Step::Accept { wait, batch, crash }),
        5 => crash().prop_map(|crash| Step::Sweep { crash }),
        1 => Just(Step::SweepTwice),
        5 => crash().prop_map(|crash| Step::Deliver { crash }),
        6 => (1..1_500_i64).prop_map(|seconds| Step::Pass { seconds }),
        1 => (70 * 3600..75 * 3600_i64).prop_map(|seconds| Step::Pass { seconds }),
        3 => (batch.clone(), status(), crash())
            .prop_map(|(batch, status, crash)| Step::Hold { batch, status, crash }),
        2 => (batch.clone(), status(), crash())
            .prop_map(|(batch, status, crash)| Step::Turn { batch, status, crash }),
        3 => (batch, crash()).prop_map(|(batch, crash)| Step::Resume { batch, crash }),
        1 => (which.clone(), crash())
            .prop_map(|(which, crash)| Step::CancelMessage { which, crash }),
        2 => (which, -100..9_000_i64, crash())
            .prop_map(|(which, wait, crash)| Step::MoveMessage { which, wait, crash }),
    ]
}

/// A case takes seconds without optimisation. `PROPTEST_CASES` asks for more of them.
fn config() -> ProptestConfig {
    let given = ProptestConfig::default();
    let cases = if given.cases == 256 { 24 } else { given.cases };
    let max_shrink_iters = 400;
    ProptestConfig {
        cases,
        max_shrink_iters,
        ..given
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_message_ends_once_and_as_it_was_asked_for(steps in collection::vec(step(), 5..70)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run::run(&steps));
    }
}
