//! No account sees or changes the rows of another: to a stranger its ids answer exactly like ids that do not exist.

use posthaste_http::{Access, Route};
use reqwest::Method;
use serde_json::{Value, json};

use super::{House, fill, routes};

/// The ids of one account's things.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    key: String,
    session: String,
    rule: i64,
    batch: String,
    message: String,
    sent: String,
    download: String,
    erasure: String,
    post: String,
    replay: String,
    subuser: String,
    owner: String,
    webhook: String,
    policy: String,
    template: String,
    version: String,
    domain: i64,
    link: i64,
    sender: i64,
    group: i64,
    alert: i64,
    pool: String,
    email: String,
    hostname: String,
}

impl Ids {
    /// Ids of the right form that nobody has.
    pub(crate) fn absent() -> Self {
        Self {
            key: "B".repeat(22),
            session: "H".repeat(22),
            rule: 987_654,
            batch: "b".repeat(32),
            message: "C".repeat(22),
            sent: "D".repeat(22),
            download: "00000000-0000-4000-8000-00000000abcf".to_owned(),
            erasure: "E".repeat(22),
            post: format!(
                "00000000-0000-4000-8000-00000000abd0.A.000000000001.{}",
                "F".repeat(16)
            ),
            replay: "G".repeat(22),
            subuser: "nobody-of-this-name".to_owned(),
            owner: "owner-of-nothing".to_owned(),
            webhook: "00000000-0000-4000-8000-00000000abcd".to_owned(),
            policy: "00000000-0000-4000-8000-00000000abd1".to_owned(),
            template: format!("d-{}", "0a".repeat(16)),
            version: "00000000-0000-4000-8000-00000000abce".to_owned(),
            domain: 987_654,
            link: 987_654,
            sender: 987_654,
            group: 987_654,
            alert: 987_654,
            pool: "pool-of-nobody".to_owned(),
            email: "nobody@absent.example".to_owned(),
            hostname: "in.nobody.example".to_owned(),
        }
    }

    /// The batch's.
    pub(crate) fn batch(&self) -> &str {
        &self.batch
    }

    /// One of everything, made by the first account.
    async fn made(house: &House) -> Self {
        let post = Method::POST;
        let text = |json: &Value, name: &str| json[name].as_str().expect("an id").to_owned();
        let key = json!({"name": "theirs", "scopes": ["mail.send"]});
        let key = house.made(post.clone(), "/v3/api_keys", &key).await;
        // The address these tests call from, or nobody could go on.
        let rules = json!({"ips": [{"ip": "127.0.0.1"}]});
        let path = "/v3/access_settings/whitelist";
        let rules = house.made(post.clone(), path, &rules).await;
        let batch = house.made(post.clone(), "/v3/mail/batch", &json!({})).await;
        let batch = text(&batch, "batch_id");
        let hook = json!({"url": "http://127.0.0.1:8099/theirs", "enabled": true, "open": true});
        let path = "/v3/user/webhooks/event/settings";
        let hook = house.made(post.clone(), path, &hook).await;
        let subuser = json!({"username": "theirs", "email": "sub@example.com", "password": "x",
            "ips": []});
        house.made(post.clone(), "/v3/subusers", &subuser).await;
        let monitor = json!({"email": "me@theirs.example", "frequency": 500});
        let path = "/v3/subusers/theirs/monitor";
        house.made(post.clone(), path, &monitor).await;
        let path = "/v3/user/username";
        let owner = house.made(Method::GET, path, &json!({})).await;
        let template = json!({"name": "theirs", "generation": "dynamic"});
        let template = house.made(post.clone(), "/v3/templates", &template).await;
        let template = text(&template, "id");
        let version = json!({"name": "theirs", "subject": "theirs", "html_content": "theirs"});
        let path = format!("/v3/templates/{template}/versions");
        let version = house.made(post.clone(), &path, &version).await;
        let own = json!({"domain": "theirs.example", "subdomain": "links", "default": true});
        let path = "/v3/whitelabel/links";
        let link = house.made(post.clone(), path, &own).await;
        let path = "/v3/whitelabel/domains";
        let own = json!({"domain": "theirs.example"});
        let domain = house.made(post.clone(), path, &own).await;
        let sender = json!({"nickname": "theirs", "from_email": "me@theirs.example",
            "reply_to": "me@theirs.example", "from_name": "Me", "address": "1 Street",
            "city": "Town", "country": "Land"});
        let path = "/v3/verified_senders";
        let sender = house.made(post.clone(), path, &sender).await;
        // Groups count from 1 in every account: theirs is not to be the first, as the other's is.
        let first = json!({"name": "first", "description": "Theirs"});
        house.made(post.clone(), "/v3/asm/groups", &first).await;
        let group = json!({"name": "theirs", "description": "Theirs"});
        let group = house.made(post.clone(), "/v3/asm/groups", &group).await;
        let group = group["id"].as_i64().expect("an id");
        let alert =
            json!({"type": "usage_limit", "percentage": 90, "email_to": "me@theirs.example"});
        let alert = house.made(post.clone(), "/v3/alerts", &alert).await;
        let pool = "pool-of-theirs".to_owned();
        let named = json!({"name": pool});
        house.made(post.clone(), "/v3/ips/pools", &named).await;
        let email = "someone@theirs.example".to_owned();
        let left = json!({"recipient_emails": [email]});
        for path in [
            "/v3/asm/suppressions/global",
            &format!("/v3/asm/groups/{group}/suppressions"),
        ] {
            house.made(post.clone(), path, &left).await;
        }
        let policy = json!({"name": "theirs", "signature": {"enabled": true}});
        let path = "/v3/user/webhooks/security/policies";
        let policy = house.made(post.clone(), path, &policy).await;
        let parse = json!({"hostname": "in.theirs.example", "url": "http://127.0.0.1:8099/in"});
        let path = "/v3/user/webhooks/parse/settings";
        let parse = house.made(post.clone(), path, &parse).await;
        let mut mail = json!({
            "personalizations": [{"to": [{"email": "to@example.com"}]}],
            "from": {"email": "from@example.com"},
            "subject": "Later",
            "content": [{"type": "text/plain", "value": "Later."}],
            "send_at": 1_800_003_600,
            "batch_id": batch,
        });
        let sent = house.call(&post, "/v3/mail/send", house.key(), &mail).await;
        assert_eq!(sent.status, 202, "{}", sent.body);
        let at_once = mail.as_object_mut().expect("an object");
        at_once.remove("batch_id");
        at_once.remove("send_at");
        let left = house.call(&post, "/v3/mail/send", house.key(), &mail).await;
        assert_eq!(left.status, 202, "{}", left.body);
        let left = left.headers["x-message-id"]
            .to_str()
            .expect("text")
            .to_owned();
        house.delivered(&left).await;
        let path = "/v3/messages/download";
        let download = house.call(&post, path, house.key(), &json!({})).await;
        let download = download.headers["location"].to_str().expect("text");
        let download = download.rsplit('/').next().expect("an id").to_owned();
        let addresses = json!({"email_addresses": ["gone@theirs.example"]});
        let path = "/v3/recipients/erasejob";
        let erasure = house.made(post.clone(), path, &addresses).await;
        let hold = json!({"batch_id": batch, "status": "pause"});
        let path = "/v3/user/scheduled_sends";
        house.made(post.clone(), path, &hold).await;
        let webhook = text(&hook, "id");
        let span = json!({"start_time": 0, "end_time": 1, "webhook_id": webhook});
        let path = "/v3/user/webhooks/event/posts/replay";
        let replay = house.made(post, path, &span).await;
        let posted = house.posted(&webhook).await;
        Self {
            key: text(&key, "api_key_id"),
            session: house.session().await,
            rule: rules["result"][0]["id"].as_i64().expect("an id"),
            message: sent.headers["x-message-id"]
                .to_str()
                .expect("text")
                .to_owned(),
            sent: left,
            download,
            erasure: text(&erasure, "job_id"),
            post: posted,
            replay: text(&replay, "replay_id"),
            subuser: "theirs".to_owned(),
            owner: text(&owner, "username"),
            webhook,
            policy: text(&policy["policy"], "id"),
            version: text(&version, "id"),
            template,
            domain: domain["id"].as_i64().expect("an id"),
            link: link["id"].as_i64().expect("an id"),
            sender: sender["id"].as_i64().expect("an id"),
            group,
            alert: alert["id"].as_i64().expect("an id"),
            pool,
            email,
            hostname: text(&parse, "hostname"),
            batch,
        }
    }

    /// What stands for a capture of this route. A new one fails here: make one of its kind
    /// above, so that it is walked too.
    fn of(&self, route: &Route, capture: &str) -> String {
        match capture {
            "api_key_id" => self.key.clone(),
            "session_id" => self.session.clone(),
            "rule_id" => self.rule.to_string(),
            "batch_id" => self.batch.clone(),
            "message_id" => self.message.clone(),
            "msg_id" | "sg_message_id" => self.sent.clone(),
            "download_uuid" => self.download.clone(),
            "job_id" => self.erasure.clone(),
            "post_id" => self.post.clone(),
            "replay_id" => self.replay.clone(),
            "subuser_name" => self.subuser.clone(),
            "id" if route.path.contains("/webhooks/event/") => self.webhook.clone(),
            "id" if route.path.contains("/security/policies/") => self.policy.clone(),
            "template_id" => self.template.clone(),
            "version_id" => self.version.clone(),
            "id" if route.path.contains("/domains/") => self.domain.to_string(),
            "id" if route.path.contains("/whitelabel/links/") => self.link.to_string(),
            "id" if route.path.contains("/verified_senders/") => self.sender.to_string(),
            "sender_id" => self.sender.to_string(),
            "group_id" => self.group.to_string(),
            "alert_id" => self.alert.to_string(),
            "pool_name" => self.pool.clone(),
            "page" => "activity".to_owned(),
            "id" if route.path.starts_with("/console/") => self.message.clone(),
            // The deployment has no address of its own here.
            "id" if route.path.contains("/whitelabel/ips/") => "987654".to_owned(),
            "email" => self.email.clone(),
            "hostname" => self.hostname.clone(),
            "ip" | "ip_address" => "192.0.2.9".to_owned(),
            "classification" => "Content".to_owned(),
            "client_type" => "phone".to_owned(),
            "username" => self.owner.clone(),
            // Signed, and of nobody in particular.
            "token" => "token".to_owned(),
            other => panic!("{} captures {other}, which no test makes", route.path),
        }
    }

    /// The path of a route with these ids in it.
    pub(crate) fn path(&self, route: &Route) -> String {
        fill(route.path, |capture| self.of(route, capture))
    }

    /// A query that names these ids under every name that a route reads one by; nothing for a
    /// route that reads a body.
    fn query(&self, route: &Route) -> String {
        if route.method != Method::GET && route.method != Method::DELETE {
            return String::new();
        }
        let id = match route.path {
            path if path.starts_with("/v3/verified_senders") => self.sender.to_string(),
            path if path.starts_with("/v3/asm") => self.group.to_string(),
            path if path.starts_with("/v3/whitelabel/links") => self.link.to_string(),
            path if path.starts_with("/v3/whitelabel") => self.domain.to_string(),
            _ => self.webhook.clone(),
        };
        let search = format!("msg_id%3D%22{}%22", self.sent);
        let Self {
            subuser,
            batch,
            webhook,
            template,
            email,
            hostname,
            ..
        } = self;
        let email = email.replace('@', "%40");
        format!(
            "?username={subuser}&usernames={subuser}&subusers={subuser}&subuser={subuser}&id={id}\
             &batch_id={batch}&webhook_id={webhook}&template_id={template}&email={email}\
             &hostname={hostname}&query={search}&start_date=2026-01-01&date=2026-01-01"
        )
    }

    /// The long ids, which must not show anywhere.
    fn texts(&self) -> Vec<&str> {
        vec![
            &self.email,
            &self.key,
            &self.session,
            &self.batch,
            &self.message,
            &self.sent,
            &self.download,
            &self.erasure,
            &self.post,
            &self.replay,
            &self.subuser,
            &self.webhook,
            &self.template,
            &self.version,
            &self.pool,
        ]
    }

    /// An answer with these ids made one word.
    fn without(&self, body: &str) -> String {
        let hide = |body: String, id: &str| body.replace(id, "ID");
        self.texts().into_iter().fold(body.to_owned(), hide)
    }
}

/// A URL for these ids alone; an answer repeats it to the caller that gave it.
fn url(ids: &Ids) -> String {
    format!("http://127.0.0.1:8099/{}", ids.batch)
}

/// A body that every endpoint can read something from, and that names these ids.
pub(crate) fn body(ids: &Ids) -> Value {
    json!({
        "name": "mine", "scopes": ["mail.send"], "disabled": true, "status": "cancel",
        "url": url(ids), "enabled": false, "type": "nonrecurring", "total": 1,
        "allocation_update": 1, "ids": [ids.rule], "batch_id": ids.batch,
        "webhook_id": ids.webhook, "id": ids.webhook, "username": ids.subuser,
        "message_id": ids.message, "default": true, "ip": "192.0.2.9", "domain_id": ids.domain,
        "recipient_emails": [ids.email],
    })
}

/// Everything the first account sees of its own.
async fn seen(house: &House, ids: &Ids, all: &[Route]) -> Vec<(String, String)> {
    let mut seen = Vec::new();
    for route in all.iter().filter(|route| route.method == Method::GET) {
        // Who called last, and when, is no secret of these ids and changes by asking.
        if route.access == Access::Public || route.path.ends_with("/activity") {
            continue;
        }
        // Some statistics require their days.
        let path = ids.path(route) + "?start_date=2026-01-01&date=2026-01-01";
        let (method, key) = (&route.method, house.key());
        let answer = house.call(method, &path, key, &json!({})).await;
        let of_addresses = ["{ip_address}", "/whitelabel/ips/"];
        let of_addresses = of_addresses.iter().any(|of| route.path.contains(of));
        // Composed mail is kept for accounts that want it.
        let is_open = route.path.contains("{token}") || route.path.ends_with("/content");
        let owned = route.path.contains('{') && !is_open && !of_addresses;
        assert!(answer.status == 200 || !owned, "{path}: {}", answer.body);
        seen.push((path, answer.body));
    }
    seen
}

#[tokio::test]
async fn an_id_of_somebody_else_is_like_no_id_at_all() {
    let house = House::open().await;
    let (theirs, absent) = (Ids::made(&house).await, Ids::absent());
    let other = house.tenant("other").await;
    let all = routes().await;
    let before = seen(&house, &theirs, &all).await;

    for route in all.iter().filter(|route| route.access != Access::Public) {
        let mut answers = Vec::new();
        for ids in [&theirs, &absent] {
            let path = ids.path(route);
            let asked = format!("{path}{}", ids.query(route));
            let answer = house
                .call(&route.method, &asked, &other.key, &body(ids))
                .await;
            answers.push((answer.status, theirs.without(&absent.without(&answer.body))));
            // An answer repeats an address that the body gave.
            let mut answered = answer.body.replace(&ids.email, "GIVEN");
            // And a user name is the caller's own from then on.
            if route.path == "/v3/user/username" {
                answered = answered.replace(&ids.subuser, "GIVEN");
            }
            let text = absent.without(&answered.replace(&url(&theirs), "URL"));
            if ids.texts().iter().all(|id| !path.contains(id)) {
                let shown = theirs.texts().into_iter().find(|id| text.contains(id));
                assert_eq!(shown, None, "{} {path}: {text}", route.method);
            }
        }
        // What a call without a foreign id makes is the caller's own, and new each time.
        let makes = route.method == Method::POST && !route.path.contains('{');
        let made = makes && answers.iter().all(|(status, _)| *status < 300);
        // By then the caller has two webhooks of its own, and this gives one the other's URL.
        let taken = route.method == Method::PATCH && route.path.ends_with("/event/settings");
        // And a group, and a pool, of that name.
        let named = ["/v3/asm/groups", "/v3/ips/pools"].contains(&route.path);
        let named = named && route.method == Method::POST;
        // And an erasure is a job of the caller's own, whose id is made of the address.
        let erased = route.method == Method::DELETE && route.path.contains("/recipients/");
        if !made && !taken && !named && !erased {
            assert_eq!(answers[0], answers[1], "{} {}", route.method, route.path);
        }
    }
    assert_eq!(seen(&house, &theirs, &all).await, before);
}
