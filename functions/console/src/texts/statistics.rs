//! Of the page of statistics.

/// What statistics are by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindText {
    /// In the choice, and as the heading of its column.
    pub(crate) label: &'static str,
    pub(crate) about: &'static str,
}

pub(crate) const DAYS: KindText = KindText {
    label: "Day",
    about: "All mail of the account.",
};
pub(crate) const CATEGORIES: KindText = KindText {
    label: "Category",
    about: "The categories that mails carried, the busiest first.",
};
pub(crate) const PROVIDERS: KindText = KindText {
    label: "Mailbox provider",
    about: "By the domain of the address, or by the hosts in its MX records.",
};
pub(crate) const CLIENTS: KindText = KindText {
    label: "Mail client",
    about: "By the user agent of opens, as far as it says. Apple's privacy protection hides it.",
};
pub(crate) const DEVICES: KindText = KindText {
    label: "Device",
    about: "By the user agent of opens, as far as it says. Apple's privacy protection hides it.",
};
pub(crate) const BROWSERS: KindText = KindText {
    label: "Browser",
    about: "The browsers that links were opened in.",
};
pub(crate) const SUBUSERS: KindText = KindText {
    label: "Subuser",
    about: "The subusers of the account, the busiest first.",
};

/// Of the row below all others.
pub(crate) const TOTAL: &str = "Total";

/// Counters of statistics in the order of their columns, in the API's word and in the page's.
pub(crate) const METRICS: [(&str, &str); 16] = [
    ("requests", "Requests"),
    ("processed", "Processed"),
    ("delivered", "Delivered"),
    ("deferred", "Deferred"),
    ("bounces", "Bounces"),
    ("blocks", "Blocks"),
    ("spam_reports", "Spam reports"),
    ("unsubscribes", "Unsubscribes"),
    ("opens", "Opens"),
    ("unique_opens", "Unique opens"),
    ("clicks", "Clicks"),
    ("unique_clicks", "Unique clicks"),
    ("invalid_emails", "Invalid addresses"),
    ("bounce_drops", "Dropped after a bounce"),
    ("spam_report_drops", "Dropped after a report"),
    ("unsubscribe_drops", "Dropped after an unsubscribe"),
];
