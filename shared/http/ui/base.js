/** Writes every UTC time below `root` as local time: whole with `data-long`; with `data-brief` as the hour of today, or
 *  a day; otherwise the hour of today, or all of it. */
function localTimes(root) {
  const now = new Date();
  const clock = { hour: "2-digit", minute: "2-digit" };
  const day = { day: "numeric", month: "short" };
  const whole = { ...day, year: "numeric", ...clock, second: "2-digit" };
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const brief = "brief" in time.dataset;
    const year = at.getFullYear() === now.getFullYear() ? {} : { year: "numeric" };
    let form = brief ? { ...day, ...year } : whole;
    if (!("long" in time.dataset) && at.toDateString() === now.toDateString()) {
      form = brief ? clock : { ...clock, second: "2-digit" };
    }
    time.textContent = new Intl.DateTimeFormat(undefined, form).format(at);
    time.title = brief ? at.toLocaleString() : time.dateTime;
  }
}
