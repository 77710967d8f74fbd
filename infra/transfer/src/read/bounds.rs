//! Where a list ends that its service does not end.

use std::collections::HashSet;

use serde_json::Value;

/// Why the rest of a list is not read.
pub(super) const ENDLESS: &str = "the list has no end";

/// Pages of a list of addresses in one run: 50,000,000 of them at 500 a page.
pub(super) const MOST_PAGES: usize = 100_000;

/// Pages of one second, and of a list without windows.
pub(super) const MOST_IN_A_ROW: usize = 20_000;

/// Pages of a list that is held in memory.
const MOST_SHORT: usize = 2_000;

/// Bytes of a list that is held in memory.
const MOST_BYTES: usize = 64 << 20;

/// What a page says about those behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageEnd {
    /// There may be others.
    More,
    /// It had no other items.
    Last,
    /// There are more than any account has.
    Endless,
}

/// A list that is held in memory, without what later pages repeat.
#[derive(Debug, Default)]
pub(super) struct ListInMemory {
    pub(super) items: Vec<Value>,
    seen: HashSet<String>,
    pages: usize,
    bytes: usize,
}

impl ListInMemory {
    /// Adds a page of so many bytes.
    pub(super) fn add(&mut self, page: Vec<Value>, bytes: usize) -> PageEnd {
        self.pages += 1;
        self.bytes += bytes;
        let before = self.items.len();
        let of_page: Vec<String> = page.iter().map(identity).collect();
        for (item, identity) in page.into_iter().zip(&of_page) {
            if !self.seen.contains(identity) {
                self.items.push(item);
            }
        }
        self.seen.extend(of_page);
        if self.items.len() == before {
            PageEnd::Last
        } else if self.pages >= MOST_SHORT || self.bytes > MOST_BYTES {
            PageEnd::Endless
        } else {
            PageEnd::More
        }
    }
}

/// What makes an item the same one, whatever else about it changes: its address and group, or its id; an item without
/// any of these is itself.
pub(super) fn identity(item: &Value) -> String {
    let own = |names: [&str; 2]| {
        let own = names.map(|name| item.get(name).unwrap_or(&Value::Null));
        (!own[0].is_null()).then(|| format!("{} {}", own[0], own[1]))
    };
    own(["id", ""])
        .or_else(|| own(["email", "group_id"]))
        .unwrap_or_else(|| item.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_ends_where_its_items_come_again_or_its_bound_is_reached() {
        let mut list = ListInMemory::default();
        let page = |id: usize, seen: usize| vec![json!({"id": id, "seen": seen})];
        assert_eq!(list.add(page(1, 1), 20), PageEnd::More);
        assert_eq!(list.add(page(2, 2), 20), PageEnd::More);
        assert_eq!(list.add(page(1, 3), 20), PageEnd::Last);
        assert_eq!(list.items.len(), 2);
        let mut endless = ListInMemory::default();
        let ends = (1..).map(|id| endless.add(page(id, 0), 20));
        let count = ends.take_while(|end| *end == PageEnd::More).count();
        assert_eq!(count, MOST_SHORT - 1);
        let mut large = ListInMemory::default();
        assert_eq!(large.add(page(1, 0), MOST_BYTES), PageEnd::More);
        assert_eq!(large.add(page(2, 0), 1), PageEnd::Endless);
    }

    #[test]
    fn an_item_is_the_same_one_by_its_id_or_its_address() {
        let same = |a: Value, b: Value| identity(&a) == identity(&b);
        assert!(same(json!({"id": 1, "a": 1}), json!({"id": 1, "a": 2})));
        assert!(!same(json!({"id": 1}), json!({"id": "1"})));
        let member =
            |group: i64, at: i64| json!({"email": "a", "group_id": group, "created_at": at});
        assert!(same(member(1, 1), member(1, 2)) && !same(member(1, 1), member(2, 1)));
        assert!(!same(json!({"x": 1}), json!({"x": 2})));
    }
}
