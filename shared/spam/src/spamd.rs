//! The protocol of spamd (`SpamAssassin`, "SPAMC/1.5"): one request per connection.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::{SpamError, SpamScore};

/// The default port of spamd.
pub(crate) const PORT: u16 = 783;

/// Bytes read of an answer; a report has a line per rule.
const MOST: u64 = 256 * 1024;

pub(crate) async fn score(address: &str, mail: &[u8]) -> Result<SpamScore, SpamError> {
    let unreachable = |e: std::io::Error| SpamError::Unreachable(e.to_string());
    let mut stream = TcpStream::connect(address).await.map_err(unreachable)?;
    let head = format!("REPORT SPAMC/1.5\r\nContent-length: {}\r\n\r\n", mail.len());
    let mut request = head.into_bytes();
    request.extend_from_slice(mail);
    stream.write_all(&request).await.map_err(unreachable)?;
    // spamd answers after it has read the announced length, or the end of the stream.
    stream.shutdown().await.map_err(unreachable)?;
    let mut answer = Vec::new();
    let mut limited = stream.take(MOST);
    limited
        .read_to_end(&mut answer)
        .await
        .map_err(unreachable)?;
    read(&String::from_utf8_lossy(&answer))
}

/// `SPAMD/1.1 0 EX_OK`, then fields, of which `Spam: True ; 15.0 / 5.0` counts, then the report.
fn read(answer: &str) -> Result<SpamScore, SpamError> {
    let (head, report) = answer.split_once("\r\n\r\n").ok_or(SpamError::Garbled)?;
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    let rest = status.strip_prefix("SPAMD/").ok_or(SpamError::Garbled)?;
    let mut words = rest.splitn(3, ' ').skip(1);
    if words.next() != Some("0") {
        let word = words.next().unwrap_or("an error");
        return Err(SpamError::Refused(word.chars().take(100).collect()));
    }
    let numbers = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_it = name.trim().eq_ignore_ascii_case("Spam");
        let (_, numbers) = value.split_once(';').filter(|_| is_it)?;
        let (score, threshold) = numbers.split_once('/')?;
        Some((number(score)?, number(threshold)?))
    });
    let (score, threshold) = numbers.ok_or(SpamError::Garbled)?;
    Ok(SpamScore {
        score,
        threshold,
        report: report.trim_end().to_owned(),
    })
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|n: &f64| n.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read() {
        let text =
            "SPAMD/1.1 0 EX_OK\r\nContent-length: 9\r\nSpam: True ; 15.2 / 5.0\r\n\r\npts rule\n\n";
        let verdict = read(text).expect("a verdict");
        assert_eq!((verdict.score, verdict.threshold), (15.2, 5.0));
        assert_eq!(verdict.report, "pts rule");
        assert!(verdict.is_spam());
        let ham = read("SPAMD/1.5 0 EX_OK\r\nSpam: False ; -0.1 / 5.0\r\n\r\n").expect("a verdict");
        assert!(!ham.is_spam());
    }

    #[test]
    fn trouble_is_no_verdict() {
        let refused = read("SPAMD/1.0 76 Bad header line: EHLO\r\n\r\n");
        assert!(matches!(refused, Err(SpamError::Refused(text)) if text.contains("Bad header")));
        for garbled in [
            "",
            "HTTP/1.1 200 OK\r\n\r\n",
            "SPAMD/1.1 0 EX_OK\r\n\r\n",
            "SPAMD/1.1 0 EX_OK\r\nSpam: True ; NaN / 5\r\n\r\n",
            "SPAMD/1.1 0 EX_OK\r\nSpam: True ; 7.0 / 5.0\r\n",
        ] {
            assert!(
                matches!(read(garbled), Err(SpamError::Garbled)),
                "{garbled}"
            );
        }
    }
}
