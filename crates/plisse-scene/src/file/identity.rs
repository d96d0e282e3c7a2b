//! What a checkpoint is of: a digest of the simulated content.
//!
//! The digest is taken of a text that is written here by hand. Numbers enter by their exact bits,
//! materials with the figures that their presets have at this time, meshes by what was read from
//! them. Names, colours, the title, camera, output, time and solver do not enter: a run may be
//! continued, and its pictures taken again, after a change of those.
//!
//! A field or key that is added later must add nothing to the text where it has its default: then
//! the runs that exist stay valid. Patterns name every field, so that a new one cannot be
//! forgotten. Where the meaning of existing content changes, such as that of a default, [`FORM`]
//! goes up.

use glam::DVec3;
use plisse_damping::RateLaw;
use plisse_io::Obj;
use plisse_io::scene_file::{
    Canonical, ClothTable, DiagonalName, Disc, Grid, LawName, ObstacleTable, PinTable, SceneFile, StartName,
    Up, WeightName, WiresTable,
};
use plisse_membrane::Lame;
use plisse_yarn::{Contacts, Family, Patch, Yarn, YarnMaterial};

use super::Meaning;
use crate::scene::{
    Bending, Damping, Material, Membrane, PairFrictions, Rigidity, Shearing, StrainRate, Stretching, digest,
};

/// Version of the text.
const FORM: u32 = 1;

/// Keys that do not change what is simulated, or enter by what they stand for.
const CLOTH: &[&str] = &["name", "colour", "material", "mesh"];
const YARNS: &[&str] = &["name", "colour", "material", "mesh", "yarn"];
const WIRES: &[&str] = &["name", "colour", "damping", "mesh"];
const OBSTACLE: &[&str] = &["name", "colour", "mesh", "mesh_sequence"];

/// The text while it is written.
pub(super) struct Identity {
    text: String,
    /// What pins call the obstacles that they follow.
    obstacles: Vec<String>,
}

impl Identity {
    /// Begins with what belongs to the scene as a whole.
    pub(super) fn new(file: &SceneFile) -> Self {
        let mut text = Self { text: String::new(), obstacles: super::obstacle_names(file) };
        text.add("form", &FORM);
        text.add("gravity", &gravity(file));
        if let Some(air) = &file.air {
            text.add("air", air);
        }
        if file.start != StartName::Refuse {
            text.add("start", &file.start);
        }
        text
    }

    /// A piece of cloth, after its mesh if it has one.
    pub(super) fn cloth(&mut self, table: &ClothTable, material: &Material) {
        let plain = plain(table);
        let pin = self.followed(&plain.pin);
        self.raw("cloth", &ClothTable { pin, ..plain }.canonical_without(CLOTH));
        self.material(material);
    }

    /// Yarns, after their mesh if they have one, with the figures of every yarn.
    pub(super) fn yarns(&mut self, table: &ClothTable, patch: &Patch) {
        let pin = self.followed(&table.pin);
        self.raw("cloth", &ClothTable { pin, ..table.clone() }.canonical_without(YARNS));
        let Contacts { shear, jamming, friction, stick, press } = *patch.contacts();
        self.add("between yarns", &[shear, jamming, friction, stick, press]);
        let mut bytes: Vec<u8> = Vec::new();
        for yarn in patch.yarns() {
            let Yarn { family, number: _, material, nodes, lengths } = yarn;
            let YarnMaterial { radius, density, stretch, bending, stretch_damping, bending_damping } =
                *material;
            let figures = [radius, density, stretch, bending, stretch_damping, bending_damping];
            let numbers = figures.iter().chain(lengths);
            bytes.push(u8::from(*family == Family::Weft));
            bytes.extend((nodes.len() as u64).to_le_bytes());
            bytes.extend(nodes.iter().flat_map(|node| node.to_le_bytes()));
            bytes.extend(numbers.flat_map(|x| (x + 0.0).to_bits().to_le_bytes()));
        }
        bytes.extend((0..patch.len() as u32).map(|node| u8::from(patch.warp_is_over(node))));
        self.add("yarns", &digest(&bytes));
    }

    /// Wires, after their mesh if they have one.
    pub(super) fn wires(&mut self, table: &WiresTable, damping: &Damping) {
        let pin = self.followed(&table.pin);
        self.raw("wires", &WiresTable { pin, ..table.clone() }.canonical_without(WIRES));
        self.damping(damping);
    }

    /// Pins with the numbers of the obstacles that they follow, in place of names.
    fn followed(&self, pins: &[PinTable]) -> Vec<PinTable> {
        let number = |name: String| {
            let number = self.obstacles.iter().position(|obstacle| *obstacle == name);
            number.map_or(name, |number| number.to_string())
        };
        let one = |pin: &PinTable| PinTable { follow: pin.follow.clone().map(number), ..pin.clone() };
        pins.iter().map(one).collect()
    }

    /// An obstacle, after its mesh if it has one.
    pub(super) fn obstacle(&mut self, table: &ObstacleTable) {
        self.raw("obstacle", &table.canonical_without(OBSTACLE));
    }

    /// Friction of pairs, by the numbers of their bodies.
    pub(super) fn friction(&mut self, table: &PairFrictions) {
        for (pair, coefficient) in table.iter() {
            self.add("friction", &pair);
            self.add("coefficient", &coefficient);
        }
    }

    /// When the meshes of a sequence are reached, after them.
    pub(super) fn times(&mut self, times: impl Iterator<Item = f64>) {
        self.add("times", &times.collect::<Vec<f64>>());
    }

    /// What was read of a mesh; not its path, nor its remarks and normals.
    pub(super) fn mesh(&mut self, obj: &Obj) {
        let mut bytes: Vec<u8> = Vec::new();
        let mut numbers = |list: &[f64]| {
            bytes.extend(list.iter().flat_map(|x| (x + 0.0).to_bits().to_le_bytes()));
        };
        obj.positions.iter().for_each(|x| numbers(&x.to_array()));
        obj.uv.iter().for_each(|x| numbers(&x.to_array()));
        let mut indices = |list: &[u32]| bytes.extend(list.iter().flat_map(|i| i.to_le_bytes()));
        for face in &obj.faces {
            indices(&face.corners);
            indices(&face.uv.unwrap_or([u32::MAX; 3]));
        }
        obj.segments.iter().for_each(|segment| indices(segment));
        for vertices in obj.groups.values() {
            indices(vertices);
        }
        let counts = [obj.positions.len(), obj.uv.len(), obj.faces.len(), obj.segments.len()];
        self.add("mesh", &counts);
        self.add("content", &digest(&bytes));
        for (name, vertices) in &obj.groups {
            self.add("group", name);
            self.add("size", &vertices.len());
        }
    }

    /// The digest.
    pub(super) fn digest(&self) -> u64 {
        digest(self.text.as_bytes())
    }

    fn raw(&mut self, key: &str, text: &str) {
        self.text.extend([key, "=", text, ";"]);
    }

    fn add(&mut self, key: &str, value: &(impl Canonical + ?Sized)) {
        self.raw(key, &value.canonical());
    }

    /// Nothing if there is none.
    fn add_some(&mut self, key: &str, value: Option<&impl Canonical>) {
        if let Some(value) = value {
            self.add(key, value);
        }
    }

    fn material(&mut self, material: &Material) {
        let Material { density, membrane, bending, damping } = material;
        self.add("density", density);
        self.membrane(membrane);
        self.bending(bending);
        self.damping(damping);
    }

    fn membrane(&mut self, membrane: &Membrane) {
        let Membrane { stretching, shearing, directions } = membrane;
        match stretching {
            Stretching::Fibres { warp, weft } => self.add("fibres", &[*warp, *weft]),
            Stretching::GreenFibres { warp, weft } => self.add("green", &[*warp, *weft]),
            Stretching::Arap(mu) => self.add("arap", mu),
            Stretching::StVenantKirchhoff(lame) => self.add("st-venant-kirchhoff", &moduli(lame)),
            Stretching::Corotational(lame) => self.add("corotational", &moduli(lame)),
            Stretching::NeoHookean(lame) => self.add("neo-hookean", &moduli(lame)),
            Stretching::NeoHookeanIncompressible(mu) => self.add("neo-hookean-incompressible", mu),
        }
        match shearing {
            Shearing::None => {}
            Shearing::Quadratic(k) => self.add("shear", k),
            Shearing::Quartic(k) => self.add("quartic shear", k),
        }
        self.add("directions", directions);
    }

    fn bending(&mut self, bending: &Bending) {
        match bending {
            Bending::None => {}
            Bending::Hinge { law, rigidity, weight } => {
                let Rigidity { warp, weft } = rigidity;
                self.add("hinge", warp);
                self.add_some("weft rigidity", Some(weft).filter(|weft| *weft != warp));
                self.add("law", name_of::<LawName>(law));
                self.add("weight", name_of::<WeightName>(weight));
            }
            Bending::MidEdge { rigidity, poisson } => self.add("mid-edge", &[rigidity.get(), poisson.get()]),
            Bending::Quadratic { rigidity } => self.add("quadratic", rigidity),
        }
    }

    fn damping(&mut self, damping: &Damping) {
        let Damping { membrane, rate_law, bending, mass, rayleigh } = damping;
        match membrane {
            StrainRate::None => {}
            StrainRate::Proportional(beta) => self.add("strain rate", beta),
            StrainRate::Isotropic { lambda, mu } => self.add("isotropic viscosity", &[*lambda, *mu]),
            StrainRate::PerDirection(values) => self.add("viscosity", values),
        }
        let law = rate_law.as_ref().map(|law: &RateLaw| [law.rate(), law.exponent()]);
        self.add_some("rate law", law.as_ref());
        self.add_some("bending damping", bending.as_ref());
        self.add_some("mass damping", mass.as_ref());
        self.add_some("rayleigh", rayleigh.as_ref());
    }
}

/// The acceleration of everything, m/s².
fn gravity(file: &SceneFile) -> DVec3 {
    let up = if file.up == Up::Y { DVec3::Y } else { DVec3::Z };
    -up * file.gravity.0
}

/// The table without keys that say what is so anyway.
fn plain(table: &ClothTable) -> ClothTable {
    let grid = table.grid.clone().map(|grid| match grid.diagonal {
        Some(DiagonalName::Alternating) if grid.irregular.is_none() => Grid { diagonal: None, ..grid },
        _ => grid,
    });
    let discs = table.discs.clone().map(|discs| Disc { irregular: discs.irregular.or(Some(1)), ..discs });
    ClothTable { grid, discs, ..table.clone() }
}

fn moduli(lame: &Lame) -> [f64; 2] {
    [lame.mu(), lame.lambda()]
}

/// The name of a choice in scene files.
#[expect(clippy::expect_used, reason = "a material that was read from a file has choices with names")]
fn name_of<N: Meaning>(choice: &N::Choice) -> &'static str {
    N::of(choice).expect("every choice of a material has a name").name()
}
