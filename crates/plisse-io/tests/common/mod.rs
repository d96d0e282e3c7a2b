//! Texts that went wrong, for tests of readers.
#![allow(dead_code, unreachable_pub, reason = "each test uses some of it")]

use plisse_core::SplitMix;

/// Spoils texts in the ways in which files are spoilt: wrong bytes, lost and repeated pieces, words
/// in wrong places. The same seed spoils the same text in the same way.
pub struct Mutator(SplitMix);

impl Mutator {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// The text with one to four things wrong.
    pub fn mutate(&mut self, text: &str, dictionary: &[&str]) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            self.spoil(&mut bytes, dictionary);
        }
        // Readers get texts: what is no UTF-8 any more is refused before.
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    fn spoil(&mut self, bytes: &mut Vec<u8>, dictionary: &[&str]) {
        let at = self.below(bytes.len());
        match self.below(9) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
            1 => {
                let end = bytes.len().min(at + 1 + self.below(8));
                bytes.drain(at..end);
            }
            2 => {
                let byte = (self.next() & 0xff) as u8;
                bytes.insert(at, byte);
            }
            3 => self.on_lines(bytes, |lines, a, b| lines.swap(a, b)),
            4 => self.on_lines(bytes, |lines, a, b| lines[a] = lines[b]),
            5 => bytes.truncate(at),
            6 => self.replace_word(bytes, dictionary),
            7 => {
                let word = self.word(bytes, dictionary);
                bytes.splice(at..at, word);
            }
            _ => {
                // A piece of the text once more, somewhere else.
                let end = bytes.len().min(at + self.below(60));
                let piece = bytes[at..end].to_vec();
                let to = self.below(bytes.len());
                bytes.splice(to..to, piece);
            }
        }
    }

    fn on_lines(&mut self, bytes: &mut Vec<u8>, change: impl FnOnce(&mut [&[u8]], usize, usize)) {
        let mut lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
        let (a, b) = (self.below(lines.len()), self.below(lines.len()));
        change(&mut lines, a, b);
        *bytes = lines.join(&b'\n');
    }

    /// A word of the dictionary with a blank on each side.
    fn word(&mut self, text: &[u8], dictionary: &[&str]) -> Vec<u8> {
        let word = match dictionary {
            [] => text.split(u8::is_ascii_whitespace).next().unwrap_or(b"0"),
            words => words[self.below(words.len())].as_bytes(),
        };
        [b" ", word, b" "].concat()
    }

    fn replace_word(&mut self, bytes: &mut Vec<u8>, dictionary: &[&str]) {
        let word = self.word(bytes, dictionary);
        let from = self.below(bytes.len());
        let is_blank = |b: &u8| b.is_ascii_whitespace();
        let Some(start) = bytes[from..].iter().position(is_blank).map(|i| from + i) else { return };
        let end = bytes[start + 1..].iter().position(is_blank).map_or(bytes.len(), |i| start + 1 + i);
        bytes.splice(start..end, word);
    }
}
