//! `/v3/partner_settings`: honest about what does not exist.

use serde_json::{Value, json};

use crate::TestApp;

const NEW_RELIC: &str = "/v3/partner_settings/new_relic";

impl TestApp {
    async fn change_new_relic(&self, body: &Value, status: u16) -> Value {
        let ask = self.api.patch(NEW_RELIC).key(&self.tenant.key).json(body);
        ask.send().await.expect(status).json()
    }
}

#[tokio::test]
async fn there_are_no_integrations_and_none_can_be_enabled() {
    let app = TestApp::new().await;
    let list = app.get("/v3/partner_settings?limit=5&offset=0").await;
    assert_eq!(list.expect(200).json(), json!({"result": []}));
    app.get("/v3/partner_settings?limit=x").await.expect(400);
    let off = json!({"enable_subuser_statistics": false, "enabled": false, "license_key": ""});
    assert_eq!(app.get(NEW_RELIC).await.expect(200).json(), off);
    assert_eq!(app.change_new_relic(&off, 200).await, off);
    for (field, value) in [
        ("enabled", json!(true)),
        ("enable_subuser_statistics", json!(true)),
        ("license_key", json!("key")),
    ] {
        let refused = app.change_new_relic(&json!({field: value}), 400).await;
        assert_eq!(refused["errors"][0]["field"], field);
    }
    assert_eq!(app.get(NEW_RELIC).await.json(), off);
}
