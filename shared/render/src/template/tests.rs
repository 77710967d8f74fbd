//! Tables of templates, data, and results (API facts 2.7).

mod blocks;
mod bounds;
mod helpers;
mod values;

use super::*;

fn compile(html: &str) -> Result<Compiled, CompileError> {
    Compiled::compile(&TemplateVersion {
        generation: Generation::Dynamic,
        subject: "",
        html_content: html,
        plain_content: "",
        generate_plain_content: false,
    })
}

fn run(html: &str, data: &str) -> Result<String, RenderError> {
    let compiled = compile(html).unwrap_or_else(|e| panic!("{html:?}: {e}"));
    let TemplateBody::Dynamic(texts) = &compiled.body else {
        panic!("not dynamic")
    };
    let data = Data::Map(Data::object(data).unwrap());
    let texts = texts.run(&data, &[], &mut Budget::default())?;
    Ok(texts.html.unwrap_or_default())
}

#[track_caller]
fn check(html: &str, data: &str, want: &str) {
    assert_eq!(run(html, data).as_deref(), Ok(want), "{html:?} with {data}");
}

#[track_caller]
fn refused(html: &str, line: usize, reason: &str) {
    let error = compile(html).expect_err(html);
    assert_eq!(
        (error.line, error.reason.as_str()),
        (line, reason),
        "{html:?}"
    );
}

const ANN: &str = r#"{"name":"Ann","user":{"name":"Bob","tags":["x","y"]},"n":3,"zero":0,"list":[1,2],
    "none":null,"yes":true,"no":false,"empty":"","nothing":[],"hash":{"b":1,"a":2},"first name":"C",
    "people":[{"name":"P"},{"name":"Q","n":9}]}"#;
