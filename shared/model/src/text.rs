//! External text, truncated to what is stored of it.

/// The beginning of a text: at most `most` bytes, ending between characters.
pub fn cut(text: &str, most: usize) -> &str {
    let end = text.floor_char_boundary(most);
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_text_is_cut_between_characters() {
        for (text, most, want) in [
            ("abc", 5, "abc"),
            ("abc", 2, "ab"),
            ("äöü", 3, "ä"),
            ("😀", 3, ""),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text, most), want, "{text} {most}");
        }
    }
}
