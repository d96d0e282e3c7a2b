//! States as bytes, to go on from later.

use glam::DVec3;
use plisse_core::{Field, Vertices};
use plisse_system::{Ledger, OwnState, Previous, SetupError, State};
use thiserror::Error;

/// A state and where it belongs.
///
/// The bytes hold every number exactly: a run that goes on from them has the same bits as one that
/// was never interrupted, if both call [`Scene::forget`](super::Scene::forget) at this point, as
/// [`Scene::checkpoint`](super::Scene::checkpoint) does.
///
/// ```
/// use plisse_scene::scene::{Checkpoint, Cloth, Pick, Scene};
/// let sheet = || Cloth::sheet([4, 4], [1.0, 1.0]).map(|sheet| sheet.pin(Pick::group("left")));
/// let mut scene = Scene::builder().cloth(sheet()?).build()?;
/// scene.step()?;
/// let bytes = scene.checkpoint(1, 7).to_bytes();
///
/// let mut other = Scene::builder().cloth(sheet()?).build()?;
/// use plisse_scene::scene::{CheckpointError, digest};
/// assert_eq!(Checkpoint::from_bytes(b"something else"), Err(CheckpointError::Foreign));
/// assert_ne!(digest(&bytes), digest(b"something else"));
/// let checkpoint = Checkpoint::from_bytes(&bytes)?;
/// other.set_state(checkpoint.state)?;
/// scene.step()?;
/// other.step()?;
/// assert_eq!(scene.state(), other.state());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Number of the frame.
    pub frame: u32,
    /// What the caller wants to recognise the scene by.
    pub tag: u64,
    /// The state.
    pub state: State<Vertices>,
}

/// Why bytes are not a checkpoint.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Another kind of file.
    #[error("this is not a checkpoint of plisse")]
    Foreign,
    /// A newer or older format.
    #[error(
        "the checkpoint has format {found}, this program reads format {expected}; use the version that wrote it"
    )]
    Format {
        /// What was found.
        found: u32,
        /// What is read.
        expected: u32,
    },
    /// Bytes are missing or were changed.
    #[error("the checkpoint is damaged: {0}")]
    Damaged(&'static str),
    /// The numbers are not a state.
    #[error("the checkpoint holds no state: {0}")]
    State(#[from] SetupError),
}

const MAGIC: &[u8; 8] = b"plisse\r\n";
const FORMAT: u32 = 2;

impl Checkpoint {
    /// Bytes to keep.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let state = &self.state;
        let mut out = MAGIC.to_vec();
        out.extend(FORMAT.to_le_bytes());
        out.extend(self.frame.to_le_bytes());
        out.extend(self.tag.to_le_bytes());
        out.extend((state.x().len() as u64).to_le_bytes());
        out.extend(state.time().to_le_bytes());
        let parts = [
            state.previous().is_some(),
            state.acceleration().is_some(),
            state.ledger().is_some(),
            !state.own().values.is_empty(),
        ];
        out.push(parts.iter().enumerate().map(|(bit, part)| u8::from(*part) << bit).sum());
        let mut field = |field: &Field<Vertices, DVec3>| {
            out.extend(field.as_slice().iter().flat_map(DVec3::to_array).flat_map(f64::to_le_bytes));
        };
        field(state.x());
        field(state.v());
        if let Some(previous) = state.previous() {
            field(&previous.x);
            field(&previous.v);
        }
        if let Some(acceleration) = state.acceleration() {
            field(acceleration);
        }
        if let Some(previous) = state.previous() {
            out.extend(previous.dt.to_le_bytes());
        }
        if let Some(Ledger { external, work, dissipated, scale, excess }) = state.ledger() {
            let numbers = [external, work, dissipated, scale, excess];
            out.extend(numbers.into_iter().flat_map(|number| number.to_le_bytes()));
        }
        if !state.own().values.is_empty() {
            for list in [&state.own().values, &state.own().rates] {
                out.extend((list.len() as u64).to_le_bytes());
                out.extend(list.iter().flat_map(|number| number.to_le_bytes()));
            }
        }
        out.extend(digest(&out).to_le_bytes());
        out
    }

    /// Reads back what [`Self::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CheckpointError> {
        let mut reader = Reader(bytes);
        if reader.array::<8>().ok() != Some(*MAGIC) {
            return Err(CheckpointError::Foreign);
        }
        let found = u32::from_le_bytes(reader.array()?);
        if found != FORMAT {
            return Err(CheckpointError::Format { found, expected: FORMAT });
        }
        let Some((content, sum)) = bytes.split_last_chunk::<8>() else {
            return Err(CheckpointError::Damaged("it is too short"));
        };
        if digest(content) != u64::from_le_bytes(*sum) {
            return Err(CheckpointError::Damaged("its checksum is wrong"));
        }
        let frame = u32::from_le_bytes(reader.array()?);
        let tag = u64::from_le_bytes(reader.array()?);
        let size = u64::from_le_bytes(reader.array()?);
        let time = f64::from_le_bytes(reader.array()?);
        let [parts] = reader.array::<1>()?;
        // Before memory is asked for: no state is longer than its bytes.
        let size = usize::try_from(size).ok().filter(|n| *n <= bytes.len() / 48);
        let size = size.ok_or(CheckpointError::Damaged("it is too short"))?;
        let (x, v) = (reader.field(size)?, reader.field(size)?);
        let before = if parts & 1 == 0 { None } else { Some((reader.field(size)?, reader.field(size)?)) };
        let acceleration = if parts & 2 == 0 { None } else { Some(reader.field(size)?) };
        let previous = match before {
            None => None,
            Some((x, v)) => Some(Previous { x, v, dt: f64::from_le_bytes(reader.array()?) }),
        };
        let ledger = if parts & 4 == 0 {
            None
        } else {
            let mut number = || reader.array().map(f64::from_le_bytes);
            let (external, work, dissipated) = (number()?, number()?, number()?);
            Some(Ledger { external, work, dissipated, scale: number()?, excess: number()? })
        };
        let own = if parts & 8 == 0 {
            OwnState::default()
        } else {
            OwnState { values: reader.numbers()?, rates: reader.numbers()? }
        };
        if reader.0.len() != 8 {
            return Err(CheckpointError::Damaged("it is too long"));
        }
        Ok(Self { frame, tag, state: State::resume(x, v, own, time, previous, acceleration, ledger)? })
    }
}

/// A digest of bytes (FNV-1a, 64 bits): tells files apart that differ by accident.
#[must_use]
pub fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], CheckpointError> {
        let (head, tail) = self.0.split_first_chunk().ok_or(CheckpointError::Damaged("it is too short"))?;
        self.0 = tail;
        Ok(*head)
    }

    /// A list with its length before it.
    fn numbers(&mut self) -> Result<Vec<f64>, CheckpointError> {
        let count = u64::from_le_bytes(self.array()?);
        // Before memory is asked for.
        let count = usize::try_from(count).ok().filter(|n| *n <= self.0.len() / 8);
        let count = count.ok_or(CheckpointError::Damaged("it is too short"))?;
        (0..count).map(|_| self.array().map(f64::from_le_bytes)).collect()
    }

    fn field(&mut self, size: usize) -> Result<Field<Vertices, DVec3>, CheckpointError> {
        let mut values = Vec::with_capacity(size);
        for _ in 0..size {
            let mut number = || self.array().map(f64::from_le_bytes);
            values.push(DVec3::new(number()?, number()?, number()?));
        }
        Ok(Field::from_vec(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(parts: u8) -> Checkpoint {
        let field = |k: f64| Field::from_fn(3, |i| DVec3::new(k, -0.0, 5e-324 + i.index() as f64));
        let previous = (parts & 1 != 0).then(|| Previous { x: field(3.0), v: field(4.0), dt: 0.1 });
        let acceleration = (parts & 2 != 0).then(|| field(5.0));
        let ledger = Ledger { external: -1.0, work: 2.0, dissipated: 0.5, scale: 3.0, excess: 0.1 };
        let own = |values: Vec<f64>| OwnState { rates: values.clone(), values };
        let own = own(if parts & 4 != 0 { vec![0.5, -0.0, 5e-324] } else { Vec::new() });
        let state =
            State::resume(field(1.0), field(2.0), own, 0.3, previous, acceleration, Some(ledger)).unwrap();
        Checkpoint { frame: 12, tag: u64::MAX - 1, state }
    }

    #[test]
    fn bytes_are_read_back() {
        for parts in 0..8 {
            let checkpoint = checkpoint(parts);
            let bytes = checkpoint.to_bytes();
            let again = Checkpoint::from_bytes(&bytes).unwrap();
            assert_eq!(again, checkpoint);
            assert_eq!(again.to_bytes(), bytes);
        }
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = checkpoint(7).to_bytes();
        for end in 0..bytes.len() {
            assert!(Checkpoint::from_bytes(&bytes[..end]).is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert!(Checkpoint::from_bytes(&changed).is_err(), "{at}");
        }
        assert_eq!(Checkpoint::from_bytes(b"a b"), Err(CheckpointError::Foreign));
        // A length that no file could have, with a checksum that fits.
        let mut huge = bytes[..bytes.len() - 8].to_vec();
        huge[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        huge.extend(digest(&huge).to_le_bytes());
        assert_eq!(Checkpoint::from_bytes(&huge), Err(CheckpointError::Damaged("it is too short")));
    }
}
