//! What the API reference says of these routes.

use posthaste_store::METRICS;
use posthaste_testkit::reference::{Operation, Reference, values};

use crate::bounces::BounceStats;
use crate::content::ComposedMail;
use crate::download::{FileLink, Requested};
use crate::erase::{ErasureView, Recipients, Started};
use crate::logs::{LogDetail, LogList, LogSearch};
use crate::message::MessageDetail;
use crate::search::MessageList;
use crate::stats::{Category, StatsPeriod};
use crate::subusers::Reputation;
use crate::{App, routes};

const ERASED: &str = "Erases copies, events, search rows, undelivered events, lost received mails, large bodies and downloads. \
                      A job does it in the background; mail that is under way is erased when it has ended.";

const SUPPRESSIONS: &str = "Whether the addresses leave the suppression lists too.";

const UTC: &str = "Days are those of UTC, and statistics are kept for 400 days.";

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn described() -> Reference {
    let reference = Reference::new(
        "activity",
        "Activity and statistics",
        "What became of mails, each alone and counted; and erasing what is stored of an address.",
    );
    subusers(bounces(segments(statistics(messages(reference)))))
}

fn messages(reference: Reference) -> Reference {
    const SEARCH: &str =
        "Needs the search (`SearchDays`, `--search-days`); without it the answer is 400.";
    const EXAMINED: &str = "A search examines 10,000 mails.";
    let id = |operation: Operation, name| {
        operation.path(
            name,
            "An `sg_message_id`, or the `X-Message-Id` of a mail to one recipient.",
        )
    };
    reference
        .on(
            "GET /v3/messages",
            Operation::new("Finds mails")
                .about("A query such as `to_email=\"ann@example.com\" AND status=\"delivered\"`; without one the newest mails.")
                .about(SEARCH)
                .limit(EXAMINED)
                .query("query", values::text(), "The query.")
                .query("limit", values::integer(1, 1_000), "How many; 10 when it is left out.")
                .query("after", values::text(), "An extension: asks for a page of the matching mails, the latest accepted first; empty for the first page, then the `X-Search-Next` of the page before. A page examines 500 mails, so it may have fewer than `limit`, or none.")
                .query("details", values::flag(), "An extension: adds `state` and `reason`.")
                .answers::<MessageList>(200, "The mails, those with the latest event first.")
                .with_header("X-Search-Incomplete", "`true` when there were mails that were not examined.")
                .with_header("X-Search-Next", "With `after`: where the next page goes on, if there may be one."),
        )
        .on(
            "GET /v3/messages/{msg_id}",
            id(Operation::new("Shows a mail and its events"), "msg_id").answers::<MessageDetail>(200, "The mail."),
        )
        .on(
            "GET /v3/messages/{msg_id}/content",
            id(Operation::new("Shows a mail as it was composed"), "msg_id")
                .extension()
                .about("For accounts that keep their mail (`/v3/mail_settings/kept_mail`), until its days are over or its recipient is erased; otherwise the answer is 404, with the reason.")
                .limit("Of each text 1 MiB is shown, of the header 64 KiB; 200 files are listed. A mail is answered whole up to 4 MiB.")
                .query("format", values::one_of(&["parts", "raw"]), "`raw` for the message itself; `parts` when it is left out.")
                .answers::<ComposedMail>(200, "The mail. With `format=raw` the message itself, as `message/rfc822`.")
                .refuses(413),
        )
        .on(
            "POST /v3/messages/download",
            Operation::new("Requests the events of mails as a file")
                .about("The request is stored for three days, and the file is written when its link is opened.")
                .about(SEARCH)
                .limit("100 requests of an account in twelve hours.")
                .query("query", values::text(), "The query, as of `GET /v3/messages`.")
                .answers::<Requested>(202, "The request is stored.")
                .with_header("Location", "The path that answers with the link."),
        )
        .on(
            "GET /v3/messages/download/{download_uuid}",
            Operation::new("Shows the link to a requested file")
                .path("download_uuid", "The id of a request, the end of its `Location`.")
                .answers::<FileLink>(200, "A link that works for an hour, without a key."),
        )
        .on(
            "GET /downloads/messages/{download_uuid}",
            Operation::new("Downloads a requested file")
                .extension()
                .path("download_uuid", "The id of a request.")
                .about("The link is signed; only addresses on the account's allow list may open it.")
                .answers_text(200, "The events, or a part of them.", "text/csv")
                .with_header("Link", "The next part of a file that is too large for one answer.")
                .refuses(403)
                .refuses(404),
        )
        .on(
            "DELETE /v3/messages/recipients/{email}",
            Operation::new("Erases what is stored of an address")
                .about(ERASED)
                .extension()
                .query("suppressions", values::flag(), SUPPRESSIONS)
                .answers_nothing(204, "Nothing is left; answered for an hour after the job has ended.")
                .answers::<ErasureView>(202, "The job that erases it."),
        )
        .on(
            "POST /v3/recipients/erasejob",
            Operation::new("Erases what is stored of many addresses")
                .about(ERASED)
                .limit("1 to 5,000 addresses.")
                .query("suppressions", values::flag(), SUPPRESSIONS)
                .body::<Recipients>()
                .answers::<Started>(202, "The job; the same addresses have one job."),
        )
        .on(
            "GET /v3/recipients/erasejob/{job_id}",
            Operation::new("Shows the state of an erasure")
                .extension()
                .path("job_id", "The `job_id` of the answer that started it.")
                .answers::<ErasureView>(200, "The job.")
                .refuses(404),
        )
        .on(
            "POST /v3/logs",
            Operation::new("Finds mails by the fields of the email logs")
                .about("The query is in the body, so that no address is in a URL.")
                .about(SEARCH)
                .limit(EXAMINED)
                .limit("`limit` is 1 to 1,000, and 10 when it is left out.")
                .body::<LogSearch>()
                .answers::<LogList>(200, "The mails, latest first."),
        )
        .on(
            "GET /v3/logs/{sg_message_id}",
            id(Operation::new("Shows a mail and its events as the email logs do"), "sg_message_id")
                .query("subuser", values::text(), "The number of the subuser that sent it.")
                .answers::<LogDetail>(200, "The mail. Its events have the form of webhook posts."),
        )
}

fn days(operation: Operation) -> Operation {
    operation
        .about(UTC)
        .must_query("start_date", values::day(), "The first day.")
        .query(
            "end_date",
            values::day(),
            "The last day; today when it is left out.",
        )
        .query(
            "aggregated_by",
            values::one_of(&["day", "week", "month"]),
            "The periods; days when it is left out.",
        )
}

fn sorted(operation: Operation, metrics: &[&str]) -> Operation {
    operation
        .query(
            "sort_by_metric",
            values::one_of(metrics),
            "The counter; `delivered` when it is left out.",
        )
        .query(
            "sort_by_direction",
            values::one_of(&["desc", "asc"]),
            "`desc` when it is left out.",
        )
}

const PERIODS: &str = "How many periods; 500 when it is left out.";
const FIVE: &str = "How many; 5 when it is left out.";

fn statistics(reference: Reference) -> Reference {
    let categories = Operation::new("Counts mails by category");
    reference
        .on(
            "GET /v3/stats",
            days(Operation::new("Counts mails"))
                .paged(500, PERIODS)
                .answers::<Vec<StatsPeriod>>(200, "One entry for each period."),
        )
        .on(
            "GET /v3/categories",
            Operation::new("Lists the categories of mails")
                .paged(1_000, "How many; 50 when it is left out.")
                .about("Those of the last 400 days.")
                .query("category", values::text(), "Those that begin so.")
                .query(
                    "sort_by",
                    values::one_of(&["category"]),
                    "The only order there is.",
                )
                .answers::<Vec<Category>>(200, "The names, in their order."),
        )
        .on(
            "GET /v3/categories/stats",
            days(categories)
                .must_query(
                    "categories",
                    values::texts(),
                    "A category; may be repeated.",
                )
                .limit("A request names at most 10 categories.")
                .answers::<Vec<StatsPeriod>>(200, "One entry for each period."),
        )
        .on(
            "GET /v3/categories/stats/sums",
            sorted(
                days(Operation::new("Sums the counters of each category")).paged(500, FIVE),
                &METRICS,
            )
            .answers::<StatsPeriod>(200, "The categories, under the first day."),
        )
}

fn segments(reference: Reference) -> Reference {
    const TABLE: &str = "Names come from fixed tables; what none has is `Other`.";
    const SEEN: &str = "Each period has every name that the requested days have.";
    const OF_OPENS: &str = "Opens, by the user agent. Of mail that Apple's privacy protection opens, neither the device nor \
                            the type of the client is known.";
    let some = |operation: Operation| {
        days(operation)
            .about(TABLE)
            .paged(500, PERIODS)
            .answers::<Vec<StatsPeriod>>(200, "One entry for each period.")
    };
    let named = |operation: Operation, parameter| {
        some(operation)
            .query(
                parameter,
                values::texts(),
                "A name; may be repeated. Without one, those that the requested days have.",
            )
            .limit("A request has at most 10 names.")
    };
    reference
        .on(
            "GET /v3/mailbox_providers/stats",
            named(Operation::new("Counts mails by mailbox provider"), "mailbox_providers")
                .about("By the domains in which a provider gives addresses, and by the hosts in the MX records of other \
                        domains. A domain whose mail is filtered by another company first, or that no DNS answers \
                        about, is `Other`."),
        )
        .on(
            "GET /v3/clients/stats",
            some(Operation::new("Counts opens by mail client")).about(OF_OPENS).about(SEEN),
        )
        .on(
            "GET /v3/clients/{client_type}/stats",
            some(Operation::new("Counts opens by mail client of a type"))
                .about("A key needs `clients.stats.read`, or the scope of the type.")
                .about(OF_OPENS)
                .about(SEEN)
                .path("client_type", "`phone`, `tablet`, `webmail` or `desktop`."),
        )
        .on(
            "GET /v3/devices/stats",
            some(Operation::new("Counts opens by device")).about(OF_OPENS).about(SEEN),
        )
        .on(
            "GET /v3/browsers/stats",
            named(Operation::new("Counts clicks by browser"), "browsers"),
        )
        .on(
            "GET /v3/geo/stats",
            some(Operation::new("Counts opens and clicks by country or state"))
                .about("The service has no data about where an address is: the periods are there, each without \
                        statistics. Events have the address of each open and click.")
                .query("country", values::one_of(&["US", "CA"]), "The country whose states are counted."),
        )
}

fn bounces(reference: Reference) -> Reference {
    let dates = |operation: Operation| {
        operation
            .about(UTC)
            .about("With `Accept: text/csv` the answer has comma-separated values.")
            .query(
                "start_date",
                values::day(),
                "The first day; the oldest when it is left out.",
            )
            .query(
                "end_date",
                values::day(),
                "The last day; today when it is left out.",
            )
            .answers::<BounceStats>(200, "The counts, day by day.")
            .answers_text(200, "The counts, day by day.", "text/csv")
    };
    let one = |operation: Operation| {
        dates(operation).path(
            "classification",
            "A classification, such as `Invalid Address`, in any case.",
        )
    };
    reference
        .on_all(
            [
                "GET /v3/suppression/bounces/classifications",
                "GET /v3/suppressions/bounces/classifications",
            ],
            dates(Operation::new("Counts bounces by classification")),
        )
        .on_all(
            [
                "GET /v3/suppression/bounces/classifications/{classification}",
                "GET /v3/suppressions/bounces/classifications/{classification}",
            ],
            one(Operation::new(
                "Counts the bounces of a classification by domain",
            )),
        )
}

fn subusers(reference: Reference) -> Reference {
    const SIZE: &str = "An answer has at most 20,000 statistics: subusers times periods.";
    let month = |operation: Operation| {
        sorted(operation.paged(500, FIVE), &crate::subusers::OF_MONTHS)
            .must_query("date", values::day(), "A day of the month.")
            .answers::<StatsPeriod>(200, "The subusers, under the first day of the month.")
    };
    reference
        .on(
            "GET /v3/subusers/reputations",
            Operation::new("Shows the reputation of subusers")
                .query(
                    "usernames",
                    values::texts(),
                    "Only these: repeated, or with commas.",
                )
                .answers::<Vec<Reputation>>(200, "From 0 to 100."),
        )
        .on(
            "GET /v3/subusers/stats",
            days(Operation::new("Counts mails by subuser"))
                .paged(500, PERIODS)
                .must_query("subusers", values::texts(), "A user name; may be repeated.")
                .limit("A request names at most 500 subusers.")
                .limit(SIZE)
                .answers::<Vec<StatsPeriod>>(200, "One entry for each period."),
        )
        .on(
            "GET /v3/subusers/stats/sums",
            sorted(
                days(Operation::new("Sums the counters of each subuser")).paged(500, FIVE),
                &METRICS,
            )
            .answers::<StatsPeriod>(200, "The subusers, under the first day."),
        )
        .on(
            "GET /v3/subusers/stats/monthly",
            month(Operation::new(
                "Sums the counters of each subuser in a month",
            ))
            .query("subuser", values::text(), "Only the one of this name."),
        )
        .on(
            "GET /v3/subusers/{subuser_name}/stats/monthly",
            month(Operation::new("Sums the counters of a subuser in a month")),
        )
}
