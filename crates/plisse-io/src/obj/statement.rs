//! Lines, comments and continued lines.

use super::error::ObjError;

/// Calls back with the words of each line that has any, the lines that continue it included, and
/// with the number of the first of these lines, counted from 1.
pub(super) fn for_each_statement<'a>(
    text: &'a str,
    mut read: impl FnMut(u32, &[&'a str]) -> Result<(), ObjError>,
) -> Result<(), ObjError> {
    let (mut number, mut words, mut goes_on) = (0, Vec::new(), false);
    for (i, line) in text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate() {
        if !goes_on {
            number = u32::try_from(i + 1).unwrap_or(u32::MAX);
        }
        goes_on = add(&mut words, line);
        if !goes_on {
            read(number, &words)?;
            words.clear();
        }
    }
    // A backslash may end the file, too.
    read(number, &words)
}

/// Adds the words of a line. Whether a backslash says that the next line belongs to it.
fn add<'a>(words: &mut Vec<&'a str>, line: &'a str) -> bool {
    for word in line.split_ascii_whitespace() {
        // Within a word `#` is part of a name. A backslash in a comment continues nothing: it may
        // end a path.
        if word.starts_with('#') {
            return false;
        }
        words.push(word);
    }
    let Some(last) = words.pop_if(|_| line.trim_ascii_end().ends_with('\\')) else { return false };
    words.extend(last.strip_suffix('\\').filter(|rest| !rest.is_empty()));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(u32, &[&str])]) {
        let mut found = Vec::new();
        for_each_statement(text, |line, words| {
            if !words.is_empty() {
                found.push((line, words.to_vec()));
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(found, expected.iter().map(|(line, words)| (*line, words.to_vec())).collect::<Vec<_>>());
    }

    #[test]
    fn lines_go_on_after_a_backslash_but_not_in_comments() {
        check("f 1 2\\\n3 \\ \r\n 4\nv", &[(1, &["f", "1", "2", "3", "4"]), (4, &["v"])]);
        check("\u{feff}\\\n\\\nf", &[(1, &["f"])]);
        check("v 1 # C:\\\ng a#1 #b", &[(1, &["v", "1"]), (2, &["g", "a#1"])]);
        check("\t\n#\n\nf 1\\", &[(4, &["f", "1"])]);
        check("", &[]);
    }
}
