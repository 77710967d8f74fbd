//! The chart of the days: two bars for each, drawn on the server. The same numbers are a table under it.

use std::fmt::Write as _;

/// Units of the drawing.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 150.0;
/// Above the highest bar, for its number.
const TOP: f64 = 24.0;
/// Days between two that are named under the bars, or a multiple of it where that would be more names than a phone has room
/// for.
const NAMED: usize = 7;
const MOST_NAMED: usize = 6;
/// Room for the name of a day: one that begins further to the right ends with the drawing.
const LAST: f64 = 90.0;

/// One day.
#[derive(Clone, Debug)]
pub(crate) struct ChartDay {
    /// `YYYY-MM-DD`.
    pub(crate) day: String,
    pub(crate) delivered: i64,
    pub(crate) bounced: i64,
}

/// The drawing as SVG, without the element around it. Delivered mails, and on top of them those that bounced.
pub(crate) fn bars(days: &[ChartDay]) -> String {
    let most = days.iter().map(|day| day.delivered + day.bounced).max();
    let most = most.unwrap_or_default();
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        svg,
        r#"<text x="0" y="17">{}</text>"#,
        crate::texts::count(most)
    );
    let step = WIDTH / float(i64::try_from(days.len()).unwrap_or(1).max(1));
    let scale = (HEIGHT - TOP) / float(most.max(1));
    for (i, day) in (0_u32..).zip(days) {
        let x = f64::from(i) * step;
        let (good, bad) = (float(day.delivered) * scale, float(day.bounced) * scale);
        let mut bar = |class: &str, from: f64, height: f64| {
            if height > 0.0 {
                let (x, y, width) = (x + 1.0, HEIGHT - from - height, step - 3.0);
                let _ = write!(
                    svg,
                    r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"/>"#
                );
            }
        };
        bar("arrived", 0.0, good);
        bar("bounced", good, bad);
    }
    let _ = write!(svg, r#"<path class="axis" d="M0 {HEIGHT}H{WIDTH}"/>"#);
    let between = NAMED * days.len().div_ceil(NAMED * MOST_NAMED).max(1);
    for (i, day) in (0_u32..).zip(days).step_by(between) {
        let x = f64::from(i) * step;
        let name = day.day.get(5..).unwrap_or_default();
        let _ = if x > WIDTH - LAST {
            write!(
                svg,
                r#"<text x="{WIDTH}" y="176" text-anchor="end">{name}</text>"#
            )
        } else {
            write!(svg, r#"<text x="{x:.1}" y="176">{name}</text>"#)
        };
    }
    svg
}

/// Counts of a day are far below what a double holds exactly; the drawing rounds anyway.
#[expect(
    clippy::cast_precision_loss,
    reason = "a bar is drawn to a tenth of a unit"
)]
fn float(number: i64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(delivered: i64, bounced: i64) -> ChartDay {
        ChartDay {
            day: "2026-11-30".to_owned(),
            delivered,
            bounced,
        }
    }

    #[test]
    fn the_highest_day_fills_the_drawing_and_an_empty_one_has_no_bar() {
        let svg = bars(&[day(90, 10), day(0, 0), day(50, 0)]);
        assert_eq!(svg.matches("<rect").count(), 3, "{svg}");
        let arrived = r#"<rect class="arrived" x="1.0" y="36.6" width="250.3" height="113.4"/>"#;
        assert!(svg.contains(arrived), "{svg}");
        let bounced = r#"<rect class="bounced" x="1.0" y="24.0" width="250.3" height="12.6"/>"#;
        assert!(svg.contains(bounced), "{svg}");
        assert!(svg.contains(r#"<text x="0" y="17">100</text>"#), "{svg}");
    }

    #[test]
    fn no_more_days_are_named_than_there_is_room_for() {
        for (days, named) in [(7, 1), (30, 5), (42, 6), (43, 4), (90, 5), (400, 6)] {
            let svg = bars(&vec![day(1, 0); days]);
            assert_eq!(svg.matches("11-30<").count(), named, "{days}");
        }
    }

    #[test]
    fn days_without_mail_are_drawn_without_bars() {
        let days = vec![day(0, 0); 30];
        assert_eq!(bars(&days).matches("<rect").count(), 0);
        assert_eq!(bars(&[]).matches("<rect").count(), 0);
    }
}
