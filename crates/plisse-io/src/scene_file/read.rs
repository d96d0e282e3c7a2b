//! Reading typed values out of TOML, with every mistake noted and none fatal.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistakes::{Collector, nearest};

/// A TOML value with its place in the text.
pub(super) type Item<'i> = Spanned<DeValue<'i>>;

/// Something that a scene file may contain.
pub(super) trait Read: Sized {
    /// What is accepted, for messages and for the reference.
    fn expected() -> String;

    /// Reads a value; notes what is wrong with it and gives none otherwise.
    fn read(item: &Item<'_>, mistakes: &mut Collector) -> Option<Self>;

    /// The tables inside of it, for the reference.
    fn tables(_: &mut Vec<TableReference>) {}
}

/// A table of the format, for the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReference {
    /// Name of the type.
    pub name: &'static str,
    /// What it is.
    pub text: String,
    /// Its keys.
    pub keys: Vec<KeyReference>,
}

/// A key of a table, for the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyReference {
    /// The key.
    pub key: &'static str,
    /// What it is.
    pub text: String,
    /// What is accepted.
    pub expected: String,
    /// `required`, `optional`, `repeated`, or its default.
    pub presence: String,
}

/// Says that a value is not what was expected.
pub(super) fn refuse(item: &Item<'_>, expected: &str, mistakes: &mut Collector) {
    let shown = match item.get_ref() {
        DeValue::String(text) => format!("\"{}\"", shorten(text)),
        DeValue::Integer(number) => shorten(number.as_str()),
        DeValue::Float(number) => shorten(number.as_str()),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(array) => format!("a list of {}", array.len()),
        DeValue::Table(_) => "a table".to_owned(),
    };
    mistakes.add(item.span().start, format!("{shown} is not {expected}"));
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        text.to_owned()
    } else {
        text.chars().take(37).chain("...".chars()).collect()
    }
}

/// A finite or infinite number, from an integer or a float.
pub(super) fn number(item: &Item<'_>) -> Option<f64> {
    match item.get_ref() {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

/// Reads a name of a closed list.
pub(super) fn name<T: Copy>(
    item: &Item<'_>,
    known: &[(&'static str, &'static str, T)],
    mistakes: &mut Collector,
) -> Option<T> {
    let Some(text) = item.get_ref().as_str() else {
        refuse(item, &one_of(known), mistakes);
        return None;
    };
    let found = known.iter().find(|(name, ..)| *name == text).map(|(.., value)| *value);
    if found.is_none() {
        let near = nearest(text, known.iter().map(|(name, ..)| *name));
        let hint = near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
        refuse(item, &format!("{}{hint}", one_of(known)), mistakes);
    }
    found
}

pub(super) fn one_of<T>(known: &[(&'static str, &'static str, T)]) -> String {
    let names: Vec<String> = known.iter().map(|(name, ..)| format!("\"{name}\"")).collect();
    names.join(", ")
}

/// Reads a list of a fixed length.
pub(super) fn list<T: Read, const N: usize>(
    item: &Item<'_>,
    expected: &str,
    mistakes: &mut Collector,
) -> Option<[T; N]> {
    let array = item.get_ref().as_array().filter(|array| array.len() == N);
    let Some(array) = array else {
        refuse(item, expected, mistakes);
        return None;
    };
    // Every entry is read, so that every mistake is found.
    let read: Vec<Option<T>> = array.iter().map(|entry| T::read(entry, mistakes)).collect();
    let read: Vec<T> = read.into_iter().collect::<Option<_>>()?;
    read.try_into().ok()
}

/// A table while it is read: which keys it has, and which were asked for.
pub(super) struct TableReader<'a, 'i> {
    pub(super) table: &'a DeTable<'i>,
    /// Where it starts.
    pub(super) at: usize,
    pub(super) known: &'static [&'static str],
}

impl<'a, 'i> TableReader<'a, 'i> {
    /// Takes an item as a table, or says that it is none.
    pub(super) fn new(
        item: &'a Item<'i>,
        what: &str,
        known: &'static [&'static str],
        mistakes: &mut Collector,
    ) -> Option<Self> {
        match item.get_ref() {
            DeValue::Table(table) => Some(Self { table, at: item.span().start, known }),
            _ => {
                refuse(item, &format!("a table ({what})"), mistakes);
                None
            }
        }
    }

    /// Notes every key that is not known.
    pub(super) fn unknown_keys(&self, what: &str, mistakes: &mut Collector) {
        for (key, _) in self.table {
            if mistakes.is_full() {
                return;
            }
            if !self.known.contains(&key.get_ref().as_ref()) {
                let name = key.get_ref();
                let hint = nearest(name, self.known.iter().copied()).map_or_else(
                    || format!("known: {}", self.known.join(", ")),
                    |near| format!("did you mean \"{near}\"?"),
                );
                let message = format!("{what} has no \"{}\"; {hint}", shorten(name));
                mistakes.add(key.span().start, message);
            }
        }
    }

    fn get(&self, key: &str) -> Option<&'a Item<'i>> {
        self.table.get(key)
    }

    /// A key that must be there.
    pub(super) fn required<T: Read>(&self, what: &str, key: &str, mistakes: &mut Collector) -> Option<T> {
        match self.get(key) {
            Some(item) => T::read(item, mistakes),
            None => {
                mistakes.add(self.at, format!("{what} needs \"{key}\": {}", T::expected()));
                None
            }
        }
    }

    /// A key that may be there. What is wrong is noted and left out, so that reading can go on.
    #[allow(clippy::option_option, reason = "all kinds of keys are read alike")]
    pub(super) fn optional<T: Read>(&self, key: &str, mistakes: &mut Collector) -> Option<Option<T>> {
        Some(self.get(key).and_then(|item| T::read(item, mistakes)))
    }

    /// A key with a default, which is written as in a file, and stands in for what is wrong.
    pub(super) fn default<T: Read>(&self, key: &str, default: &str, mistakes: &mut Collector) -> Option<T> {
        self.get(key).and_then(|item| T::read(item, mistakes)).or_else(|| {
            let item = DeValue::parse(default).ok()?;
            T::read(&item, mistakes)
        })
    }

    /// A list of tables or values of any length; absent is empty, and wrong entries are left out.
    pub(super) fn repeated<T: Read>(&self, key: &str, mistakes: &mut Collector) -> Option<Vec<T>> {
        let Some(item) = self.get(key) else {
            return Some(Vec::new());
        };
        let Some(array) = item.get_ref().as_array() else {
            refuse(item, &format!("a list ({})", T::expected()), mistakes);
            return Some(Vec::new());
        };
        Some(array.iter().filter_map(|entry| T::read(entry, mistakes)).collect())
    }
}

/// The key of a field: without what makes a reserved word a name in Rust.
pub(super) const fn key(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// A choice by name: one list for scene files, the command line and the reference.
///
/// ```
/// use plisse_io::scene_file::{CurvatureName, Name};
/// let names: Vec<&str> = CurvatureName::KNOWN.iter().map(|(name, ..)| *name).collect();
/// assert_eq!(names, ["quadric-fit", "second-form"]);
/// assert_eq!(CurvatureName::SecondForm.name(), "second-form");
/// assert_eq!(CurvatureName::from_name("third-form"), None);
/// ```
pub trait Name: Copy + PartialEq + 'static {
    /// Every choice: its name, a sentence about it, and its value.
    const KNOWN: &'static [(&'static str, &'static str, Self)];

    /// Its name.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the list is made from the values")]
    fn name(self) -> &'static str {
        Self::KNOWN.iter().find(|(.., value)| *value == self).expect("every value has a name").0
    }

    /// The choice of this name.
    #[must_use]
    fn from_name(name: &str) -> Option<Self> {
        Self::KNOWN.iter().find(|(known, ..)| *known == name).map(|(.., value)| *value)
    }
}

/// Declares an enum whose values have names.
macro_rules! names {
    ($(#[doc = $doc:literal])* pub enum $Name:ident { $($(#[doc = $vdoc:literal])* $Variant:ident = $text:literal),* $(,)? }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name { $($(#[doc = $vdoc])* $Variant),* }

        impl $crate::scene_file::Name for $Name {
            const KNOWN: &'static [(&'static str, &'static str, Self)] =
                &[$(($text, concat!($($vdoc),*).trim_ascii(), Self::$Variant)),*];
        }

        impl $crate::scene_file::Canonical for $Name {
            fn add_canonical(&self, out: &mut String) {
                out.push_str($crate::scene_file::Name::name(*self));
            }
        }

        impl $crate::scene_file::read::Read for $Name {
            fn expected() -> String {
                $crate::scene_file::read::one_of(<Self as $crate::scene_file::Name>::KNOWN)
            }
            fn read(
                item: &$crate::scene_file::read::Item<'_>,
                mistakes: &mut $crate::scene_file::mistakes::Collector,
            ) -> Option<Self> {
                $crate::scene_file::read::name(item, <Self as $crate::scene_file::Name>::KNOWN, mistakes)
            }
        }
    };
}
pub(super) use names;

macro_rules! field_type {
    (required, $T:ty) => { $T };
    (optional, $T:ty) => { Option<$T> };
    (repeated, $T:ty) => { Vec<$T> };
    ($default:literal, $T:ty) => { $T };
}
pub(super) use field_type;

macro_rules! field_read {
    (required, $reader:expr, $what:expr, $key:expr, $m:expr) => {
        $reader.required($what, $key, $m)
    };
    (optional, $reader:expr, $what:expr, $key:expr, $m:expr) => {
        $reader.optional($key, $m)
    };
    (repeated, $reader:expr, $what:expr, $key:expr, $m:expr) => {
        $reader.repeated($key, $m)
    };
    ($default:literal, $reader:expr, $what:expr, $key:expr, $m:expr) => {
        $reader.default($key, $default, $m)
    };
}
pub(super) use field_read;

macro_rules! field_presence {
    (required) => {
        "required"
    };
    (optional) => {
        "optional"
    };
    (repeated) => {
        "repeated"
    };
    ($default:literal) => {
        concat!("`", $default, "`")
    };
}
pub(super) use field_presence;

macro_rules! field_canonical {
    (required, $value:expr, $key:expr, $out:expr) => {
        $crate::scene_file::canonical::entry($out, $key, $value)
    };
    (optional, $value:expr, $key:expr, $out:expr) => {
        if let Some(value) = $value {
            $crate::scene_file::canonical::entry($out, $key, value);
        }
    };
    (repeated, $value:expr, $key:expr, $out:expr) => {
        if !$value.is_empty() {
            $crate::scene_file::canonical::entry($out, $key, $value);
        }
    };
    ($default:literal, $value:expr, $key:expr, $out:expr) => {
        $crate::scene_file::canonical::entry_unless($out, $key, $value, $default)
    };
}
pub(super) use field_canonical;

/// Declares a table: the type, how it is read, its canonical text, and its part of the reference.
/// Each key is `required`, `optional`, `repeated`, or has a default in the notation of the file.
macro_rules! table {
    ($(#[doc = $doc:literal])* pub struct $Name:ident ($what:literal) {
        $($(#[doc = $fdoc:literal])* $field:ident: $T:ty = $presence:tt),* $(,)?
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name {
            /// Line of the file where it starts.
            pub at_line: usize,
            $($(#[doc = $fdoc])* pub $field: $crate::scene_file::read::field_type!($presence, $T)),*
        }

        impl $Name {
            /// The canonical text without some of the keys: those that a reader takes from
            /// elsewhere, or does not care for.
            #[must_use]
            pub fn canonical_without(&self, keys: &[&str]) -> String {
                let mut text = String::from("{");
                $({
                    let key = $crate::scene_file::read::key(stringify!($field));
                    if !keys.contains(&key) {
                        $crate::scene_file::read::field_canonical!($presence, &self.$field, key, &mut text);
                    }
                })*
                text.push('}');
                text
            }
        }

        impl $crate::scene_file::Canonical for $Name {
            fn add_canonical(&self, out: &mut String) {
                out.push_str(&self.canonical_without(&[]));
            }
        }

        impl $crate::scene_file::read::Read for $Name {
            fn expected() -> String {
                concat!("a table, see ", stringify!($Name)).to_owned()
            }

            fn read(
                item: &$crate::scene_file::read::Item<'_>,
                mistakes: &mut $crate::scene_file::mistakes::Collector,
            ) -> Option<Self> {
                const KNOWN: &[&str] = &[$($crate::scene_file::read::key(stringify!($field))),*];
                let reader = $crate::scene_file::read::TableReader::new(item, $what, KNOWN, mistakes)?;
                reader.unknown_keys($what, mistakes);
                $(let $field =
                    $crate::scene_file::read::field_read!($presence, reader, $what, $crate::scene_file::read::key(stringify!($field)), mistakes);)*
                let at_line = mistakes.line(reader.at);
                Some(Self { at_line, $($field: $field?),* })
            }

            fn tables(out: &mut Vec<$crate::scene_file::read::TableReference>) {
                let name = stringify!($Name);
                if out.iter().any(|table| table.name == name) {
                    return;
                }
                out.push($crate::scene_file::read::TableReference {
                    name,
                    text: concat!($($doc),*).trim().to_owned(),
                    keys: vec![$($crate::scene_file::read::KeyReference {
                        key: $crate::scene_file::read::key(stringify!($field)),
                        text: concat!($($fdoc),*).trim().to_owned(),
                        expected: <$T as $crate::scene_file::read::Read>::expected(),
                        presence: $crate::scene_file::read::field_presence!($presence).to_owned(),
                    }),*],
                });
                $(<$T as $crate::scene_file::read::Read>::tables(out);)*
            }
        }
    };
}
pub(super) use table;
