//! Mails of many kinds: pretty ones, foreign ones, broken ones and hostile ones.

use mail_builder::MessageBuilder;
use mail_builder::headers::raw::Raw;

const NEWSLETTER: &str = include_str!("newsletter.html");
const LOGO: &[u8] = include_bytes!("logo.png");
const PHOTO: &[u8] = include_bytes!("photo.png");

/// Sender and recipient of the envelope, and the mail.
type Sample = (String, String, Vec<u8>);

/// `count` mails, the most telling ones last, which is first in the list.
pub(crate) fn mails(count: usize) -> Vec<Sample> {
    let special = special();
    let plain = (0..count.saturating_sub(special.len())).map(ordinary);
    let mut mails: Vec<_> = plain.collect();
    mails.extend(special);
    mails
}

fn sample(to: &str, build: MessageBuilder<'_>) -> Sample {
    let raw = build.write_to_vec().unwrap_or_default();
    let sender = "b-aaaaaaaaaaaaaaaaaaaaaaaaaa-0-abcdefghij-0badcafe@bounce.fernhill.example";
    (sender.to_owned(), to.to_owned(), raw)
}

fn ordinary(number: usize) -> Sample {
    let names = [
        "Ann Ferro",
        "Bo Lindqvist",
        "Carla Nuñez",
        "Deniz Aydın",
        "Eve Okafor",
        "Fumi Tanaka",
    ];
    let topics = [
        "Your order has shipped",
        "Reset your password",
        "Invoice for November",
        "Welcome aboard",
        "Someone replied to your comment",
        "Your weekly report",
    ];
    let pick = |list: &[&'static str], step: usize| {
        list.get(number / step % list.len())
            .copied()
            .unwrap_or_default()
    };
    let name = pick(&names, 1);
    let to = format!("user{number}@example.com");
    let topic = pick(&topics, 2);
    let text = format!(
        "Hello {name},\r\n\r\n{topic}. Open https://shop.example/t/{number} to see more.\r\n\r\nThe shop\r\n"
    );
    let html = format!(
        "<p>Hello {name},</p><p>{topic}. <a href=\"https://shop.example/t/{number}\">See more</a></p>"
    );
    let build = MessageBuilder::new()
        .from(("Alder & Ash Shop", "shop@alder.example"))
        .to((name, to.as_str()))
        .message_id(format!("{number}@alder.example"))
        .subject(format!("{topic} (#{})", 4000 + number))
        .text_body(text)
        .html_body(html);
    sample(&to, build)
}

fn special() -> Vec<Sample> {
    vec![
        sample("rtl@example.com", MessageBuilder::new()
            .from(("مكتبة النور", "salam@noor.example"))
            .to(("يوسف", "rtl@example.com"))
            .subject("تأكيد طلبك رقم ١٢٣٤ – شكرًا لك")
            .text_body("مرحبًا يوسف،\r\n\r\nوصلنا طلبك وسيصلك خلال ثلاثة أيام.\r\n")
            .html_body("<div dir=rtl style='font:18px sans-serif'><h2>مرحبًا يوسف</h2><p>وصلنا طلبك وسيصلك خلال ثلاثة أيام.</p></div>")),
        sample("fumi@example.com", MessageBuilder::new()
            .from(("山田書店", "info@yamada.example"))
            .to(("田中 文", "fumi@example.com"))
            .subject("ご注文ありがとうございます 📚")
            .text_body("田中様\r\n\r\nご注文の本を発送しました。\r\n")),
        sample("long@example.com", MessageBuilder::new()
            .from("ops@alder.example")
            .to("long@example.com")
            .subject("A subject that goes on and on ".repeat(30))
            .text_body(format!("{}\r\n.\r\n..\r\n", "long ".repeat(1000)))),
        sample("<b>x@example.com", MessageBuilder::new()
            .from(("<script>alert(1)</script>", "evil@example.com"))
            .to(("\"><img src=x onerror=alert(1)>", "x@example.com"))
            .subject("<script>alert('subject')</script><img src=x onerror=alert(2)>")
            .html_body("<script>document.title='owned';top.location='/clear'</script><body onload=alert(1)><img src=x onerror=\"parent.document.body.innerHTML='owned'\"><a href='javascript:alert(1)' target=_top>click</a><form action=/clear method=post><button>free money</button></form><h1>Nothing happened?</h1><meta http-equiv=refresh content='0;url=https://evil.example/'>")
            .attachment("text/html", "<img src=x onerror=alert(1)>.html", "<script>alert(1)</script>")
            .attachment("image/svg+xml", "a\r\nSet-Cookie: a=b.svg", "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")),
        sample("nobody@example.com", MessageBuilder::new()
            .from(("Alder & Ash Shop", "shop@alder.example"))
            .to("nobody@example.com")
            .message_id("bounce-1@alder.example")
            .subject("Your account is about to expire")
            .text_body("Please log in once more.\r\n")),
        ("".to_owned(), "broken@example.com".to_owned(), b"this is not a mail at all \xff\xfe\0".to_vec()),
        sample("finance@example.com", MessageBuilder::new()
            .from(("Alder & Ash Shop", "billing@alder.example"))
            .to(("Finance, \"the\" team", "finance@example.com"))
            .cc(("Bo Lindqvist", "bo@example.com"))
            .reply_to(("Billing desk", "desk@alder.example"))
            .subject("Invoice 2026-1107 🧾")
            .text_body("Dear team,\r\n\r\nthe invoice of November is attached, with the list of hours and a picture of the new shelf.\r\n\r\nBest,\r\nBilling\r\n")
            .html_body("<p style='font:16px sans-serif'>Dear team,<br><br>the invoice of November is attached, with the list of hours and a picture of the new shelf.</p>")
            .attachment("application/pdf", "Invoice 2026-1107.pdf", vec![b'%'; 482_113])
            .attachment("text/csv; charset=utf-8", "hours größe.csv", "day,hours\r\n2026-11-02,7.5\r\n")
            .attachment("image/png", "shelf.png", PHOTO)
            .attachment("application/zip", "everything.zip", vec![0_u8; 3_100_000])),
        sample("ann@example.com", MessageBuilder::new()
            .from(("Fernhill Gardens 🌿", "letters@fernhill.example"))
            .to(("Ann Ferro", "ann@example.com"))
            .message_id("47.ann@fernhill.example")
            .header("List-Unsubscribe", Raw::new("<https://fernhill.example/u/1>, <mailto:u@fernhill.example>"))
            .header("List-Unsubscribe-Post", Raw::new("List-Unsubscribe=One-Click"))
            .header("X-Campaign", Raw::new("field-notes-47"))
            .subject("Field notes, November: frost, kale and a tractor 🚜")
            .text_body("Dear Ann,\r\n\r\nthe frost came early and took the dahlias, but the kale has never looked better.\r\n\r\nRead the whole letter: https://fernhill.example/notes/47\r\n")
            .html_body(NEWSLETTER)
            .inline("image/png", "logo@fernhill.example", LOGO)
            .inline("image/png", "photo@fernhill.example", PHOTO)),
    ]
}
