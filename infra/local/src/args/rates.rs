//! The flags of the rate limits.

use clap::Args;
use posthaste_http::RateLimits;

/// How often an account may call.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct RateArgs {
    /// Requests an account may make to one endpoint in a period, mail/send included [default: 600, and 50000 for
    /// mail/send]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        env = "POSTHASTE_RATE_LIMIT",
        hide_env_values = true,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) rate_limit: Option<u32>,
    /// Seconds of the period that --rate-limit counts in; in more than 5 the official clients for Go and Java, which
    /// retry 5 times at intervals of 1.1 s, give up before it ends
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 5,
        allow_negative_numbers = true,
        env = "POSTHASTE_RATE_PERIOD",
        hide_env_values = true,
        value_parser = clap::value_parser!(i64).range(1..=86_400)
    )]
    pub(crate) rate_period: i64,
}

impl RateArgs {
    /// The limits; those that no flag sets are the defaults.
    pub(crate) fn limits(self) -> RateLimits {
        let default = RateLimits::default();
        RateLimits {
            requests: self.rate_limit.unwrap_or(default.requests),
            mail_send: self.rate_limit.unwrap_or(default.mail_send),
            period: self.rate_period,
            ..default
        }
    }
}
