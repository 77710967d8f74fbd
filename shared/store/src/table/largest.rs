//! How large a row of each family can become, in bytes as DynamoDB counts them (attribute names and
//! values); it takes 400 KB. Tests build each at the limits of what is taken.
//!
//! | family | bounded by | at most |
//! |---|---|---|
//! | recipient's copy | subject 1 KB; custom arguments and categories once; 20 events listed, and each kind of end; of other deferrals the last; words of servers 1 KB each; 119 opens and 119 clicks, URLs 500 and programs 200 bytes | [`COPY`] |
//! | copy that cannot be recorded | address and one event | [`SMALL`] |
//! | search row, its pointer | subject 1 KB, ten categories, a key, 64 marks | [`SEARCHED`] |
//! | requested download | a query of 8 KB, a secret | [`DOWNLOAD`] |
//! | scheduled mail in look-ups | addresses, senders and subjects of 32 KB, ten categories | [`WAITING`] |
//! | suppressed address | 5 lists and 200 groups, reasons 1 KB | [`SUPPRESSED`] |
//! | counters of a day | one category; a longer sort key ends with a hash | [`COUNTED`] |
//! | composed mail that is kept | what `posthaste-kept` puts into the table, 4 KB in base64 | [`KEPT`] |
//! | due row, held message, dead letter, post, lost mail | one message of a queue, 256 KB | [`CARRIER`] |
//! | mail and tracking settings | each text in the request, together 340 KB | [`SETTINGS`] |
//! | template | names and subjects of all versions 250 KB, 300 versions | [`TEMPLATE`] |
//! | texts of a version | parts of 300 KB | [`VERSION_TEXT`] |
//! | domain | 1,000 borrowers | [`DOMAIN`] |
//! | branded links | 50, names of 253 characters | [`BRANDED_LINKS`] |
//! | account | 1,000 sending addresses | [`ACCOUNT`] |
//! | API key | 1,000 known scopes, name 255 characters | [`API_KEY`] |
//! | holds of an account | 100 batches | [`HOLDS`] |
//! | webhook, parse setting, security policy | URLs and names 1 or 2 KB each, 3 times that in their standard form | [`WEBHOOK`] |
//! | verified sender | characters of each field in the request | [`SENDER`] |
//! | system mails of an account, of an address | 5 and 2 entries of a second and a hash | [`SMALL`] |
//! | address to forward to | an address of 320 characters, a hash | [`SMALL`] |
//! | unsubscribe group | name 30 characters, description 100 | [`SMALL`] |
//! | piece of a later mail, batch entry | 50 earlier seconds | [`SMALL`] |
//! | access attempt, entry of the audit log, job that posts events again, rate window, allowance, counter, allowed IP, batch, first open or click, mark (reported, counted, erased, shared raw mail), received mail, idempotency key, mailed link, session of the console and link that opens one, name or hostname held, host of branded links, listed minute | a fixed form; keys below 2 KB | [`SMALL`] |

/// Of a recipient's copy.
pub const COPY: usize = 390_000;

/// Of a search row.
pub const SEARCHED: usize = 20_000;

/// Of a requested download of search results.
pub const DOWNLOAD: usize = 9_000;

/// Of scheduled mail as look-ups show it.
pub const WAITING: usize = 80_000;

/// Of an address on lists.
pub const SUPPRESSED: usize = 30_000;

/// Of the counters of a day.
pub const COUNTED: usize = 4_096;

/// Of a composed mail that is kept in the table.
pub const KEPT: usize = 6_000;

/// Of a row that carries a message of a queue.
pub const CARRIER: usize = 280_000;

/// Of an account's settings.
pub const SETTINGS: usize = 350_000;

/// Of a template, without the texts of its versions.
pub const TEMPLATE: usize = 350_000;

/// Of a part of the texts of a template's version.
pub const VERSION_TEXT: usize = 301_000;

/// Of an authenticated domain.
pub const DOMAIN: usize = 200_000;

/// Of the branded links of an account.
pub const BRANDED_LINKS: usize = 40_000;

/// Of an API key.
pub const API_KEY: usize = 60_000;

/// Of a webhook, a parse setting or a security policy.
pub const WEBHOOK: usize = 20_000;

/// Of a verified sender.
pub const SENDER: usize = 8_192;

/// Of an account.
pub const ACCOUNT: usize = 60_000;

/// Of the holds of an account.
pub const HOLDS: usize = 20_000;

/// Of a row of a fixed form.
pub const SMALL: usize = 4_096;

/// Of what another server said, or of how an attempt ended, where a row stores a text of it.
pub(crate) const REASON: usize = 1_024;
