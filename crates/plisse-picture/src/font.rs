//! Letters as pen strokes, drawn for plisse: no font files are needed, and any size looks smooth.
//!
//! A glyph is a list of strokes, a stroke a list of points, each a digit across and a digit up:
//! letters stand on row 2, small ones reach row 6, large ones row 8. A stroke after `~` is a curve
//! that leaves and reaches its end points along the outer sides and touches the middles of the
//! inner ones.

use glam::DVec2;

/// Height of a large letter, in the units of the points.
const CAP: f64 = 6.0;
/// Space between letters and width of a blank.
const GAP: f64 = 1.7;
const BLANK: f64 = 2.2;

fn strokes(letter: char) -> &'static str {
    match letter {
        '0' => "~220208484222",
        '1' => "072822",
        '2' => "~0608484602 0242",
        '3' => "~0708484525 ~2545420203",
        '4' => "32380444",
        '5' => "480805 ~053646420203",
        '6' => "~38080242460604",
        '7' => "084812",
        '8' => "~250508484525 ~250502424525",
        '9' => "~12424808044446",
        'a' => "4642 ~444606024244",
        'b' => "0802 ~040646420204",
        'c' => "~454606024243",
        'd' => "4842 ~444606024244",
        'e' => "0444 ~444606024243",
        'f' => "~381816 1612 0636",
        'g' => "4641 ~444606024244 ~41400001",
        'h' => "0802 ~04064644 4442",
        'i' => "0602 0808",
        'j' => "2622 ~22200000 2828",
        'k' => "0802 4604 2542",
        'l' => "0802",
        'm' => "0602 ~04063634 3432 ~34366664 6462",
        'n' => "0602 ~04064644 4442",
        'o' => "~220206464222",
        'p' => "0600 ~040646420204",
        'q' => "4640 ~444606024244",
        'r' => "0602 ~040636",
        's' => "~4546060444420203",
        't' => "1813 ~131232 0636",
        'u' => "0604 ~04024244 4642",
        'v' => "062246",
        'w' => "0622364266",
        'x' => "0642 4602",
        'y' => "0622 4610",
        'z' => "06460242",
        'A' => "022842 1434",
        'B' => "020828 ~28484525 0525 ~25454222 0222",
        'C' => "~474808024243",
        'D' => "020818 ~18484212 0212",
        'E' => "48080242 0535",
        'F' => "480802 0535",
        'G' => "~474808024244 4424",
        'H' => "0802 4842 0545",
        'I' => "0802",
        'J' => "4844 ~44420203",
        'K' => "0802 4804 1542",
        'L' => "080242",
        'M' => "0208254842",
        'N' => "02084248",
        'O' => "~220208484222",
        'P' => "020828 ~28484424 0424",
        'Q' => "~220208484222 2442",
        'R' => "020828 ~28484424 0424 2442",
        'S' => "~4748080545420203",
        'T' => "0848 2822",
        'U' => "0804 ~04024244 4448",
        'V' => "082248",
        'W' => "0822364268",
        'X' => "0842 4802",
        'Y' => "082548 2522",
        'Z' => "08480242",
        '.' => "0202",
        ',' => "1201",
        ':' => "0303 0606",
        '\'' => "0907",
        '-' | '\u{2212}' => "0535",
        '+' => "0545 2327",
        '=' => "0646 0444",
        '<' => "462442",
        '>' => "062402",
        '*' | '·' | '×' => "0347 4307",
        '/' => "0149",
        '%' => "0248 0818170708 3343423233",
        '(' => "~29070321",
        ')' => "~09272301",
        '[' => "29090121",
        ']' => "09292101",
        '|' => "0901",
        '_' => "0141",
        '^' => "062846",
        '²' => "~0809292805 0525",
        '³' => "~080929272717 ~172725250506",
        _ => "0848420208",
    }
}

/// Lines of a text as pairs of points and the width of it, both relative to the height of a large
/// letter.
///
/// The text starts at the origin, on the line it is written on; y points up.
pub(crate) fn write(text: &str) -> (Vec<[DVec2; 2]>, f64) {
    let mut lines = Vec::new();
    let mut pen = 0.0;
    for letter in text.chars() {
        if letter.is_whitespace() {
            pen += BLANK + GAP;
            continue;
        }
        let mut width = 0f64;
        for stroke in strokes(letter).split(' ') {
            let curved = stroke.starts_with('~');
            let digits: Vec<f64> = stroke.chars().filter_map(|c| c.to_digit(10)).map(f64::from).collect();
            let points: Vec<DVec2> = digits.chunks_exact(2).map(|p| DVec2::new(p[0], p[1] - 2.0)).collect();
            width = points.iter().fold(width, |width, p| width.max(p.x));
            let points = if curved { curve(&points) } else { points };
            let place = |p: DVec2| (p + DVec2::new(pen, 0.0)) / CAP;
            lines.extend(points.windows(2).map(|pair| [place(pair[0]), place(pair[1])]));
        }
        pen += width + GAP;
    }
    (lines, (pen - GAP).max(0.0) / CAP)
}

/// A smooth curve: parabolas between the middles of the sides.
fn curve(points: &[DVec2]) -> Vec<DVec2> {
    const STEPS: u32 = 6;
    let last = points.len().saturating_sub(1);
    let mut smooth: Vec<DVec2> = points.first().copied().into_iter().collect();
    for i in 1..last {
        let from = if i == 1 { points[0] } else { 0.5 * (points[i - 1] + points[i]) };
        let to = if i + 1 == last { points[last] } else { 0.5 * (points[i] + points[i + 1]) };
        for step in 1..=STEPS {
            let t = f64::from(step) / f64::from(STEPS);
            smooth.push(from.lerp(points[i], t).lerp(points[i].lerp(to, t), t));
        }
    }
    smooth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_has_its_own_shape() {
        let letters: Vec<char> =
            "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ.,:-+=/%()[]²³".chars().collect();
        for (i, a) in letters.iter().enumerate() {
            let (lines, width) = write(&a.to_string());
            assert!(!lines.is_empty() && (0.0..=1.2).contains(&width), "{a}");
            assert!(
                lines.iter().flatten().all(|p| p.y > -0.5 && p.y < 1.3 && p.x >= 0.0 && p.x <= width + 1e-9)
            );
            for b in &letters[..i] {
                assert_ne!(write(&b.to_string()).0, lines, "{a} and {b}");
            }
        }
        assert_eq!(write(""), (vec![], 0.0));
        assert!(write("a b").1 > write("ab").1);
        assert!(!write("\u{1F9F5}").0.is_empty(), "unknown letters are boxes");
    }
}
