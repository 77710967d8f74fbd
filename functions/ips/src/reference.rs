//! What the API reference says of these routes.

use posthaste_testkit::reference::{Operation, Reference, values};

use crate::addresses::{AssignedIp, IpRequest, IpView, ListedIp, RemainingIps, WarmingIp};
use crate::pools::{PoolName, PoolRequest, PoolView};
use crate::reverse_dns::{ReverseDnsRequest, ReverseDnsView, Validated};
use crate::{App, routes};

#[tokio::test]
async fn reference() {
    described().check(App::from_env, routes).await;
}

fn ip(operation: Operation) -> Operation {
    operation.path("ip_address", "An IP address.")
}

fn pool(operation: Operation) -> Operation {
    operation.path("pool_name", "The name of a pool.")
}

fn described() -> Reference {
    let reference = Reference::new(
        "ips",
        "IP addresses",
        "The addresses that mail leaves from: the dedicated ones of Amazon SES. A relay does not say which it has, so \
         that there are none to show.",
    );
    reverse_dns(warm_up(pools(addresses(reference))))
}

fn addresses(reference: Reference) -> Reference {
    reference
        .on(
            "GET /v3/ips",
            Operation::new("Lists the dedicated addresses")
                .paged(500, "How many; 500 when it is left out.")
                .query("ip", values::text(), "Only this one.")
                .query(
                    "subuser",
                    values::text(),
                    "Only those that are assigned to this subuser.",
                )
                .query(
                    "sort_by_direction",
                    values::one_of(&["asc", "desc"]),
                    "`asc` when it is left out.",
                )
                .answers::<Vec<ListedIp>>(200, "The addresses."),
        )
        .on(
            "POST /v3/ips",
            Operation::new("Always refuses: addresses are not sold here")
                .about("The operator leases them of Amazon SES, or of the relay."),
        )
        .on(
            "GET /v3/ips/assigned",
            Operation::new("Lists the addresses that mail of the account may leave from")
                .answers::<Vec<AssignedIp>>(200, "The dedicated addresses."),
        )
        .on(
            "GET /v3/ips/remaining",
            Operation::new("Says how many addresses can be added: none")
                .answers::<RemainingIps>(200, "Nought of the month."),
        )
        .on(
            "GET /v3/ips/{ip_address}",
            ip(Operation::new("Shows a dedicated address")).answers::<IpView>(200, "The address."),
        )
}

fn pools(reference: Reference) -> Reference {
    reference
        .on(
            "POST /v3/ips/pools",
            Operation::new("Makes a pool of addresses")
                .about(
                    "A mail names it as `ip_pool_name`. With Amazon SES it leaves through the configuration set that the \
                     operator has set for a pool of this name (`IpPools`), otherwise as any other mail.",
                )
                .limit("At most 100 pools; a name of 2 to 64 characters.")
                .requires(["name"])
                .body::<PoolRequest>()
                .answers::<PoolName>(200, "The pool."),
        )
        .on(
            "GET /v3/ips/pools",
            Operation::new("Lists the pools").answers::<Vec<PoolName>>(200, "The pools, by name."),
        )
        .on(
            "GET /v3/ips/pools/{pool_name}",
            pool(Operation::new("Shows a pool")).answers::<PoolView>(200, "The pool and its addresses."),
        )
        .on(
            "PUT /v3/ips/pools/{pool_name}",
            pool(Operation::new("Renames a pool"))
                .requires(["name"])
                .body::<PoolRequest>()
                .answers::<PoolName>(200, "The pool."),
        )
        .on(
            "DELETE /v3/ips/pools/{pool_name}",
            pool(Operation::new("Deletes a pool")).answers_nothing(204, "The pool is deleted."),
        )
        .on(
            "POST /v3/ips/pools/{pool_name}/ips",
            pool(Operation::new("Puts a dedicated address into a pool"))
                .about("Without effect on mail: SES has pools of its own.")
                .limit("A pool has at most 100 addresses.")
                .requires(["ip"])
                .body::<IpRequest>()
                .answers::<AssignedIp>(201, "The address."),
        )
        .on(
            "DELETE /v3/ips/pools/{pool_name}/ips/{ip}",
            pool(Operation::new("Takes an address out of a pool"))
                .path("ip", "An IP address.")
                .answers_nothing(204, "The address is out of the pool."),
        )
}

fn warm_up(reference: Reference) -> Reference {
    reference
        .on(
            "GET /v3/ips/warmup",
            Operation::new("Lists the addresses that are being warmed up")
                .about("Amazon SES does it by itself, and does not say since when.")
                .answers::<Vec<WarmingIp>>(200, "The addresses."),
        )
        .on(
            "POST /v3/ips/warmup",
            Operation::new("Shows an address that is being warmed up, and refuses any other")
                .requires(["ip"])
                .body::<IpRequest>()
                .answers::<Vec<WarmingIp>>(200, "A list of the one address.")
                .refuses(404),
        )
        .on(
            "GET /v3/ips/warmup/{ip_address}",
            ip(Operation::new("Says whether an address is being warmed up"))
                .answers::<Vec<WarmingIp>>(
                    200,
                    "A list of the one address; empty once it is warmed up.",
                ),
        )
        .on(
            "DELETE /v3/ips/warmup/{ip_address}",
            ip(Operation::new(
                "Says that an address is warmed up, and refuses one that is not",
            ))
            .answers_nothing(204, "The address is warmed up.")
            .refuses(400),
        )
}

fn reverse_dns(reference: Reference) -> Reference {
    let id = |operation: Operation| operation.path("id", "The number of a name.");
    reference
        .on(
            "POST /v3/whitelabel/ips",
            Operation::new("Stores the name that an address is to have in the DNS")
                .about(
                    "The answer has the record to create. The way back, from the address to the name, is set by the \
                     owner of the address.",
                )
                .limit("At most 100 names.")
                .requires(["ip", "domain"])
                .body::<ReverseDnsRequest>()
                .answers::<ReverseDnsView>(201, "The name, which is not valid yet."),
        )
        .on(
            "GET /v3/whitelabel/ips",
            Operation::new("Lists the names of addresses").paged(500, "How many; 500 when it is left out.")
                .query("ip", values::text(), "Only addresses that begin with this text.")
                .answers::<Vec<ReverseDnsView>>(200, "The names, oldest first."),
        )
        .on(
            "GET /v3/whitelabel/ips/{id}",
            id(Operation::new("Shows the name of an address"))
                .answers::<ReverseDnsView>(200, "The name."),
        )
        .on(
            "DELETE /v3/whitelabel/ips/{id}",
            id(Operation::new("Deletes the name of an address"))
                .answers_nothing(204, "The name is deleted."),
        )
        .on(
            "POST /v3/whitelabel/ips/{id}/validate",
            id(Operation::new("Looks up whether a name leads to its address"))
                .answers::<Validated>(200, "What was found."),
        )
}
