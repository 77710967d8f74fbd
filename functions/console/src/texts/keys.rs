//! Of keys, and what they may do.

/// What a key is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PresetText {
    pub(crate) label: &'static str,
    pub(crate) about: &'static str,
}

pub(crate) const SENDING: PresetText = PresetText {
    label: "Send mail",
    about: "All that an application needs.",
};
pub(crate) const SEEING: PresetText = PresetText {
    label: "Send, and see what became of it",
    about: "Activity and statistics too.",
};
pub(crate) const SUPPRESSING: PresetText = PresetText {
    label: "Manage suppressions",
    about: "Lists of addresses that get no mail, and unsubscribe groups.",
};
