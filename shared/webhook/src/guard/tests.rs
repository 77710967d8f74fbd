//! Address by address: the edges of every range, and their neighbours outside.

use super::*;

type Table = &'static [(&'static str, Option<Why>)];

const IPV4: Table = &[
    ("0.0.0.0", Some(Why::Unspecified)),
    ("0.0.0.1", Some(Why::Reserved)),
    ("0.255.255.255", Some(Why::Reserved)),
    ("1.0.0.0", None),
    ("9.255.255.255", None),
    ("10.0.0.0", Some(Why::Private)),
    ("10.255.255.255", Some(Why::Private)),
    ("11.0.0.0", None),
    ("100.63.255.255", None),
    ("100.64.0.0", Some(Why::Shared)),
    ("100.100.100.200", Some(Why::Shared)),
    ("100.127.255.255", Some(Why::Shared)),
    ("100.128.0.0", None),
    ("126.255.255.255", None),
    ("127.0.0.0", Some(Why::Loopback)),
    ("127.0.0.1", Some(Why::Loopback)),
    ("127.255.255.255", Some(Why::Loopback)),
    ("128.0.0.0", None),
    ("168.63.129.15", None),
    ("168.63.129.16", Some(Why::Metadata)),
    ("168.63.129.17", None),
    ("169.253.255.255", None),
    ("169.254.0.0", Some(Why::LinkLocal)),
    ("169.254.169.253", Some(Why::LinkLocal)),
    ("169.254.169.254", Some(Why::Metadata)),
    ("169.254.170.2", Some(Why::Metadata)),
    ("169.254.170.23", Some(Why::Metadata)),
    ("169.254.255.255", Some(Why::LinkLocal)),
    ("169.255.0.0", None),
    ("172.15.255.255", None),
    ("172.16.0.0", Some(Why::Private)),
    ("172.31.255.255", Some(Why::Private)),
    ("172.32.0.0", None),
    ("191.255.255.255", None),
    ("192.0.0.0", Some(Why::Reserved)),
    ("192.0.0.192", Some(Why::Reserved)),
    ("192.0.0.255", Some(Why::Reserved)),
    ("192.0.1.0", None),
    ("192.0.2.0", Some(Why::Documentation)),
    ("192.0.2.255", Some(Why::Documentation)),
    ("192.0.3.0", None),
    ("192.52.193.1", Some(Why::Tunnel)),
    ("192.88.98.255", None),
    ("192.88.99.1", Some(Why::Tunnel)),
    ("192.88.100.0", None),
    ("192.167.255.255", None),
    ("192.168.0.0", Some(Why::Private)),
    ("192.168.255.255", Some(Why::Private)),
    ("192.169.0.0", None),
    ("198.17.255.255", None),
    ("198.18.0.0", Some(Why::Benchmarking)),
    ("198.19.255.255", Some(Why::Benchmarking)),
    ("198.20.0.0", None),
    ("198.51.100.0", Some(Why::Documentation)),
    ("198.51.100.255", Some(Why::Documentation)),
    ("198.51.101.0", None),
    ("203.0.112.255", None),
    ("203.0.113.0", Some(Why::Documentation)),
    ("203.0.113.255", Some(Why::Documentation)),
    ("203.0.114.0", None),
    ("223.255.255.255", None),
    ("224.0.0.0", Some(Why::Multicast)),
    ("233.252.0.9", Some(Why::Documentation)),
    ("239.255.255.255", Some(Why::Multicast)),
    ("240.0.0.0", Some(Why::Reserved)),
    ("255.255.255.254", Some(Why::Reserved)),
    ("255.255.255.255", Some(Why::Broadcast)),
    ("8.8.8.8", None),
    ("54.239.28.85", None),
];

const IPV6: Table = &[
    ("::", Some(Why::Unspecified)),
    ("::1", Some(Why::Loopback)),
    ("::2", Some(Why::Tunnel)),
    ("::7f00:1", Some(Why::Tunnel)),
    ("::8.8.8.8", Some(Why::Tunnel)),
    ("::1:0:0:0", Some(Why::Reserved)),
    ("::ffff:0:127.0.0.1", Some(Why::Tunnel)),
    ("64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", Some(Why::Reserved)),
    ("64:ff9b:1::", Some(Why::Tunnel)),
    ("64:ff9b:1:ffff:ffff:ffff:a00:1", Some(Why::Tunnel)),
    ("64:ff9b:2::", Some(Why::Reserved)),
    ("64:ff9b:0:0:0:1::", Some(Why::Reserved)),
    ("100::", Some(Why::Reserved)),
    ("100::ffff", Some(Why::Reserved)),
    ("1fff:ffff::", Some(Why::Reserved)),
    ("2000::", None),
    ("2001::", Some(Why::Tunnel)),
    ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Some(Why::Tunnel)),
    ("2001:1::1", Some(Why::Reserved)),
    ("2001:2::1", Some(Why::Benchmarking)),
    ("2001:2:1::", Some(Why::Reserved)),
    ("2001:3::1", Some(Why::Tunnel)),
    ("2001:10::1", Some(Why::Reserved)),
    ("2001:20::1", Some(Why::Reserved)),
    ("2001:1ff:ffff::", Some(Why::Reserved)),
    ("2001:200::", None),
    ("2001:db7:ffff::", None),
    ("2001:db8::", Some(Why::Documentation)),
    ("2001:db8:ffff:ffff::", Some(Why::Documentation)),
    ("2001:db9::", None),
    ("2001:4860:4860::8888", None),
    ("2002::", Some(Why::Tunnel)),
    ("2002:7f00:1::", Some(Why::Tunnel)),
    ("2002:808:808::1", Some(Why::Tunnel)),
    ("2002:ffff:ffff::", Some(Why::Tunnel)),
    ("2003::", None),
    ("2600:1f18::1", None),
    ("3ffd:ffff::", None),
    ("3ffe::1", Some(Why::Reserved)),
    ("3fff::", Some(Why::Documentation)),
    ("3fff:fff:ffff::", Some(Why::Documentation)),
    ("3fff:1000::", None),
    ("4000::", Some(Why::Reserved)),
    ("5f00::1", Some(Why::Reserved)),
    ("e000::", Some(Why::Reserved)),
    ("fbff::", Some(Why::Reserved)),
    ("fc00::", Some(Why::UniqueLocal)),
    ("fd00:ec2::254", Some(Why::Metadata)),
    ("fd00:ec2::23", Some(Why::Metadata)),
    ("fd20:ce::254", Some(Why::Metadata)),
    ("fd00:ec2::253", Some(Why::UniqueLocal)),
    ("fdff:ffff::", Some(Why::UniqueLocal)),
    ("fe00::", Some(Why::Reserved)),
    ("fe80::1", Some(Why::LinkLocal)),
    ("febf:ffff::", Some(Why::LinkLocal)),
    ("fec0::", Some(Why::SiteLocal)),
    ("feff:ffff::", Some(Why::SiteLocal)),
    ("ff02::1", Some(Why::Multicast)),
    ("ffff:ffff::", Some(Why::Multicast)),
];

#[track_caller]
fn check(guard: &Guard, address: &str, want: Option<Why>) {
    let parsed: IpAddr = address.parse().unwrap();
    let found = guard.judge(parsed).err();
    assert_eq!(found.map(|refusal| refusal.why), want, "{address}");
    if let Some(refusal) = found {
        assert_eq!(refusal.address, parsed, "{address}");
    }
}

#[test]
fn ipv4_is_refused_from_the_first_to_the_last_address_of_each_range() {
    let guard = Guard::default();
    for (address, want) in IPV4 {
        check(&guard, address, *want);
    }
}

#[test]
fn ipv6_is_refused_unless_it_is_public_unicast() {
    let guard = Guard::default();
    for (address, want) in IPV6 {
        check(&guard, address, *want);
    }
}

#[test]
fn an_ipv4_address_inside_an_ipv6_address_is_judged_as_itself() {
    let guard = Guard::default();
    for (inner, want) in [
        ("8.8.8.8", None),
        ("0.0.0.0", Some(Why::Unspecified)),
        ("10.1.2.3", Some(Why::Private)),
        ("100.64.0.1", Some(Why::Shared)),
        ("127.0.0.1", Some(Why::Loopback)),
        ("169.254.169.254", Some(Why::Metadata)),
        ("172.16.0.1", Some(Why::Private)),
        ("192.168.1.1", Some(Why::Private)),
        ("224.0.0.1", Some(Why::Multicast)),
        ("255.255.255.255", Some(Why::Broadcast)),
    ] {
        check(&guard, inner, want);
        check(&guard, &format!("::ffff:{inner}"), want);
        check(&guard, &format!("64:ff9b::{inner}"), want);
    }
}

#[test]
fn what_the_operator_permits_passes_in_every_form_and_nothing_beyond() {
    let loopback = Guard::with_loopback();
    for (address, want) in [
        ("127.0.0.1", None),
        ("127.255.255.255", None),
        ("::1", None),
        ("::ffff:127.0.0.1", None),
        ("::2", Some(Why::Tunnel)),
        ("10.0.0.1", Some(Why::Private)),
        ("169.254.169.254", Some(Why::Metadata)),
        ("0.0.0.0", Some(Why::Unspecified)),
    ] {
        check(&loopback, address, want);
    }

    let lan = Guard::new(vec![
        "10.1.0.0/16".parse().unwrap(),
        "fd12::/16".parse().unwrap(),
    ]);
    for (address, want) in [
        ("10.1.255.255", None),
        ("::ffff:10.1.0.1", None),
        ("64:ff9b::10.1.0.1", None),
        ("10.2.0.0", Some(Why::Private)),
        ("fd12:ffff::1", None),
        ("fd13::1", Some(Why::UniqueLocal)),
        ("127.0.0.1", Some(Why::Loopback)),
    ] {
        check(&lan, address, want);
    }
}

#[test]
fn private_networks_may_be_permitted_without_the_metadata_of_clouds() {
    let private = Guard::with_private();
    for (address, want) in [
        ("127.0.0.1", None),
        ("::1", None),
        ("10.1.2.3", None),
        ("172.16.0.1", None),
        ("192.168.1.1", None),
        ("64:ff9b::10.1.2.3", None),
        ("fd12::1", None),
        ("8.8.8.8", None),
        ("169.254.169.254", Some(Why::Metadata)),
        ("64:ff9b::169.254.169.254", Some(Why::Metadata)),
        ("fd00:ec2::254", Some(Why::Metadata)),
        ("0.0.0.0", Some(Why::Unspecified)),
        ("169.254.1.1", Some(Why::LinkLocal)),
        ("fe80::1", Some(Why::LinkLocal)),
    ] {
        check(&private, address, want);
    }
}

#[test]
fn a_refusal_names_the_kind_and_hides_the_address() {
    let refusal = Guard::default()
        .judge("10.11.12.13".parse().unwrap())
        .unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the host has a private address, which is not permitted"
    );
}
