//! Searches, and bodies that hold them.

use axum::http::StatusCode;

use super::on_a_small_stack;
use crate::support::{Box, mail};

#[test]
fn searches() {
    on_a_small_stack("searches", || async {
        let b = Box::new();
        for n in 0..50 {
            let body = "a".repeat(64 * 1024);
            b.deliver(
                &["a@x.example"],
                mail("f@x.example", "a@x.example", &format!("m{n}"), &body),
            )
            .await;
        }
        let long = format!("{}b", "a".repeat(30_000));
        for (search, want) in [
            (long.clone(), StatusCode::OK),
            (format!("\"{}", "a ".repeat(15_000)), StatusCode::OK),
            ("a+".repeat(100), StatusCode::OK),
            ("-from:a+".repeat(100), StatusCode::OK),
            ("a+".repeat(15_000), StatusCode::BAD_REQUEST),
            ("\"".repeat(10_000), StatusCode::OK),
            ("addressed:a+".repeat(100), StatusCode::OK),
            (format!("before:{}", "9".repeat(30_000)), StatusCode::OK),
            (format!("larger:{}", "k".repeat(30_000)), StatusCode::OK),
        ] {
            let shown = &search[..search.len().min(20)];
            let search = search.replace(' ', "%20").replace('"', "%22");
            for path in [
                "/api/v1/search?query=",
                "/?q=",
                "/api/v1/message/latest?query=",
            ] {
                let answer = b.get(&format!("{path}{search}")).await;
                let none = path.contains("latest") && answer.status == StatusCode::NOT_FOUND;
                assert!(
                    none || answer.status == want,
                    "{path}{shown} {}",
                    answer.status
                );
            }
        }
        let before = b.get("/api/v1/info").await.json();
        for (method, path, body) in [
            ("POST", "/clear", format!("q={}", "a+".repeat(15_000))),
            ("POST", "/clear", format!("q={}", "a".repeat(1 << 20))),
            (
                "DELETE",
                "/api/v1/messages",
                format!("{{\"Search\":\"{}\"}}", "a ".repeat(500_000)),
            ),
            ("PUT", "/api/v1/messages", "[".repeat(1 << 20)),
        ] {
            let answer = b.ask(method, path, &[], &body).await;
            assert!(
                answer.status.is_client_error(),
                "{method} {path} {}",
                answer.status
            );
        }
        let after = b.get("/api/v1/info").await.json();
        assert_eq!(
            before["Messages"], after["Messages"],
            "a refused search deletes nothing"
        );
    });
}
