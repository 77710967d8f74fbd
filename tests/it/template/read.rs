//! Reading the template: its stanzas, and the values that `CloudFormation` would give with the
//! parameters at their defaults, but for those that a test gives.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_yaml_ng::Value;
use serde_yaml_ng::value::TaggedValue;

pub(crate) struct Template(pub(crate) Value);

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

impl Template {
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(root().join("template.yaml")).unwrap();
        Self(serde_yaml_ng::from_str(&text).expect("template.yaml is YAML"))
    }

    /// The same with a parameter that the owner gave.
    pub(crate) fn given(mut self, name: &str, value: &str) -> Self {
        let parameter = &mut self.0["Parameters"][name];
        assert!(parameter.is_mapping(), "no parameter {name}");
        parameter["Default"] = value.into();
        self
    }

    /// The properties of every resource of this type, by logical name.
    pub(crate) fn of_type(&self, kind: &str) -> BTreeMap<String, Value> {
        let resources = self.0["Resources"].as_mapping().unwrap();
        let wanted = resources.iter().filter(|(_, r)| r["Type"] == kind);
        wanted
            .map(|(name, r)| (name.as_str().unwrap().to_owned(), r["Properties"].clone()))
            .collect()
    }

    /// The properties of every function, by the name of its binary.
    pub(crate) fn functions(&self) -> BTreeMap<String, Value> {
        let resources = self.0["Resources"].as_mapping().unwrap();
        let functions = resources
            .values()
            .filter(|r| r["Type"] == "AWS::Serverless::Function");
        let binary = |r: &Value| {
            assert_eq!(r["Metadata"]["BuildMethod"], "rust-cargolambda");
            let name = r["Metadata"]["BuildProperties"]["Binary"].as_str();
            name.expect("every function names its binary").to_owned()
        };
        functions
            .map(|r| (binary(r), r["Properties"].clone()))
            .collect()
    }

    /// The routes of the API's document by the logical name of the function that answers them, as
    /// `GET /v3/scopes`, or `ANY /v3/templates` for all of a path; the one for everything else is `$default`. A parameter that takes the rest of
    /// the path (`{email+}`) is one like others to the function.
    pub(crate) fn routes(&self) -> BTreeMap<String, Vec<String>> {
        let api = &self.of_type("AWS::Serverless::HttpApi")["Api"];
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, item) in api["DefinitionBody"]["paths"].as_mapping().unwrap() {
            let path = path.as_str().unwrap().replace("+}", "}");
            for (method, operation) in item.as_mapping().unwrap() {
                let method = method.as_str().unwrap();
                if method == "parameters" {
                    continue;
                }
                let uri = texts(&operation["x-amazon-apigateway-integration"]["uri"]).concat();
                let (_, function) = uri.split_once("/functions/${").unwrap();
                let (function, _) = function.split_once(".Arn}").unwrap();
                let route = match (operation["isDefaultRoute"].as_bool(), method) {
                    (Some(true), _) => "$default".to_owned(),
                    (_, "x-amazon-apigateway-any-method") => format!("ANY {path}"),
                    (_, method) => format!("{} {path}", method.to_ascii_uppercase()),
                };
                found.entry(function.to_owned()).or_default().push(route);
            }
        }
        found
    }

    /// The logical name of the function with this binary.
    pub(crate) fn logical_name(&self, binary: &str) -> String {
        let resources = self.0["Resources"].as_mapping().unwrap();
        let is_it = |r: &Value| r["Metadata"]["BuildProperties"]["Binary"] == binary;
        let found = resources.iter().find(|(_, r)| is_it(r));
        let (name, _) = found.unwrap_or_else(|| panic!("no function {binary}"));
        name.as_str().unwrap().to_owned()
    }

    /// What every function has unless it says otherwise.
    pub(crate) fn global(&self, name: &str) -> &Value {
        &self.0["Globals"]["Function"][name]
    }

    /// The variables of a function, and Lambda's own. What only a deployed stack can fill in goes by
    /// its own name, in lower case.
    pub(crate) fn variables(&self, stanza: &Value) -> BTreeMap<String, String> {
        let own = stanza.get("Environment");
        let all = [Some(self.global("Environment")), own];
        let each = all.into_iter().flatten();
        let each = each.flat_map(|place| place["Variables"].as_mapping().unwrap());
        let mut found: BTreeMap<String, String> = each
            .map(|(name, value)| (name.as_str().unwrap().to_owned(), self.resolve(value)))
            .map(|(name, value)| (name, filled_in(&value)))
            .collect();
        found.insert("AWS_REGION".to_owned(), "us-east-1".to_owned());
        for (variable, secret) in self.held(&found) {
            found.insert(variable, secret);
        }
        found
    }

    /// What the process reads at its start from the secrets that these variables name.
    fn held(&self, variables: &BTreeMap<String, String>) -> Vec<(String, String)> {
        let is_empty = |name: &str| variables.get(name).is_none_or(String::is_empty);
        let named = variables.iter().filter_map(|(name, secret)| {
            let variable = name.strip_suffix("_ARN")?;
            (is_empty(variable) && !secret.is_empty()).then_some((variable, secret))
        });
        let read = named.filter_map(|(variable, secret)| {
            let made = &self.0["Resources"][secret.as_str()]["Properties"];
            let value = match (made.get("SecretString"), made.get("GenerateSecretString")) {
                (Some(value), _) => self.resolve(value),
                (None, Some(make)) => {
                    assert_eq!(make["ExcludePunctuation"], true, "base64url has none of it");
                    let length = make["PasswordLength"].as_u64().unwrap();
                    format!("1:{}", "Z".repeat(usize::try_from(length).unwrap()))
                }
                (None, None) => return None,
            };
            Some((variable.to_owned(), value))
        });
        read.collect()
    }

    /// The text of a value.
    pub(crate) fn resolve(&self, value: &Value) -> String {
        match value {
            Value::String(text) => text.clone(),
            Value::Tagged(tagged) => self.call(tagged),
            other => serde_yaml_ng::to_string(other).unwrap().trim().to_owned(),
        }
    }

    fn call(&self, tagged: &TaggedValue) -> String {
        let text = tagged.value.as_str().unwrap_or_default();
        if tagged.tag == "Ref" {
            match self.0["Parameters"].get(text) {
                Some(parameter) => self.resolve(&parameter["Default"]),
                None if self.0["Resources"][text]["Type"] == "AWS::SQS::Queue" => {
                    format!("https://sqs.us-east-1.amazonaws.com/000000000000/{text}")
                }
                // Whatever it will be called.
                None => text.to_owned(),
            }
        } else if tagged.tag == "Sub" {
            self.substitute(text)
        } else if tagged.tag == "If" {
            self.resolve(self.branch(&tagged.value))
        } else {
            panic!("a variable holds {:?}", tagged.tag)
        }
    }

    /// The side of an `!If` that holds.
    fn branch<'a>(&self, parts: &'a Value) -> &'a Value {
        if self.holds(parts[0].as_str().expect("a condition's name")) {
            &parts[1]
        } else {
            &parts[2]
        }
    }

    /// Whether a condition of the template is met.
    pub(crate) fn holds(&self, condition: &str) -> bool {
        self.is_met(&self.0["Conditions"][condition])
    }

    fn is_met(&self, condition: &Value) -> bool {
        let Value::Tagged(tagged) = condition else {
            panic!("no condition: {condition:?}");
        };
        let parts = &tagged.value;
        let mut all = parts.as_sequence().into_iter().flatten();
        if tagged.tag == "Equals" {
            self.resolve(&parts[0]) == self.resolve(&parts[1])
        } else if tagged.tag == "Not" {
            !self.is_met(&parts[0])
        } else if tagged.tag == "And" {
            all.all(|part| self.is_met(part))
        } else if tagged.tag == "Or" {
            all.any(|part| self.is_met(part))
        } else if tagged.tag == "Condition" {
            self.holds(parts.as_str().expect("a condition's name"))
        } else {
            panic!("a condition holds {:?}", tagged.tag)
        }
    }

    /// What the role of a function is.
    pub(crate) fn role(&self, stanza: &Value) -> &Value {
        let name = texts(&stanza["Role"]).concat();
        let name = name.strip_suffix(".Arn").expect("a role of this template");
        &self.0["Resources"][name]["Properties"]
    }

    /// The documents of the policies of a function's role.
    pub(crate) fn policies(&self, stanza: &Value) -> Vec<Value> {
        let policies = self.role(stanza)["Policies"].as_sequence();
        let policies = policies.expect("policies").iter();
        policies
            .map(|policy| policy["PolicyDocument"].clone())
            .collect()
    }

    /// The statements of a function's policies, without those whose condition is not met.
    pub(crate) fn statements(&self, stanza: &Value) -> Vec<Value> {
        let policies = self.policies(stanza);
        let listed = policies.iter().flat_map(|policy| {
            let statements = policy["Statement"].as_sequence();
            statements.expect("statements").iter()
        });
        let kept = |statement: &Value| match statement {
            Value::Tagged(tagged) if tagged.tag == "If" => self.branch(&tagged.value).clone(),
            other => other.clone(),
        };
        listed.map(kept).filter(Value::is_mapping).collect()
    }

    /// Parameters by their defaults; everything else as written.
    fn substitute(&self, text: &str) -> String {
        let parameters = self.0["Parameters"].as_mapping().unwrap();
        parameters
            .iter()
            .fold(text.to_owned(), |text, (name, one)| {
                let name = format!("${{{}}}", name.as_str().unwrap());
                match one.get("Default") {
                    Some(default) => text.replace(&name, &self.resolve(default)),
                    None => text,
                }
            })
    }
}

/// Shows every value in the tree, from the root down.
pub(crate) fn walk(value: &Value, see: &mut impl FnMut(&Value)) {
    see(value);
    match value {
        Value::Sequence(items) => items.iter().for_each(|item| walk(item, see)),
        Value::Mapping(map) => map.values().for_each(|item| walk(item, see)),
        Value::Tagged(tagged) => walk(&tagged.value, see),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Every text in the tree.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(value, &mut |value| {
        if let Value::String(text) = value {
            found.push(text.clone());
        }
    });
    found
}

/// A text with each `${Name}` of it in the letters of a host name.
fn filled_in(text: &str) -> String {
    let Some((before, rest)) = text.split_once("${") else {
        return text.to_owned();
    };
    let (name, after) = rest.split_once('}').expect("an end");
    let name = name.to_ascii_lowercase().replace("::", "-");
    format!("{before}{name}{}", filled_in(after))
}
