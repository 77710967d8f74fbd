//! A function that says hello and knows nothing else.

use lambda_http::{Error, Request, run, service_fn};

#[tokio::main]
async fn main() -> Result<(), Error> {
    run(service_fn(async |_: Request| Ok::<_, Error>("hello"))).await
}
