//! Of the first page.

pub(crate) const LEFT: &str = "left";
pub(crate) const ARRIVED: &str = "arrived";
pub(crate) const BOUNCED: &str = "bounced";
pub(crate) const COMPLAINED: &str = "complained about";
pub(crate) const BOUNCES_REVIEWED: &str = "SES reviews an account at 5 %";
pub(crate) const COMPLAINTS_REVIEWED: &str = "SES reviews an account at 0.1 %";

/// A line of the list before the first real mail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepText {
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    /// Of the link to the page that does it.
    pub(crate) action: &'static str,
}

pub(crate) const A_KEY: StepText = StepText {
    title: "A key for your application",
    about: "It is the only thing that a client needs besides the address.",
    action: "Create a key",
};
pub(crate) const A_SENDER: StepText = StepText {
    title: "A sender of your own",
    about: "An authenticated domain signs what you send; one verified address is enough to begin with.",
    action: "Domains and senders",
};
pub(crate) const A_MAIL: StepText = StepText {
    title: "A first mail is accepted",
    about: "The page of a new key shows the call with curl and in seven languages.",
    action: "Show me",
};
pub(crate) const AN_ARRIVAL: StepText = StepText {
    title: "A mail has arrived",
    about: "The receiving side took it.",
    action: "",
};
pub(crate) const A_WEBHOOK: StepText = StepText {
    title: "Your application learns of bounces",
    about: "A webhook gets each event within seconds, signed.",
    action: "Webhooks",
};
pub(crate) const SES_OPEN: StepText = StepText {
    title: "SES is out of its sandbox",
    about: "In the sandbox mail goes to verified addresses only; AWS lifts it on request.",
    action: "",
};
