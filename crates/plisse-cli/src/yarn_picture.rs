//! Yarns in pictures: tubes with a colour for each family, or for single yarns.

use glam::DVec3;
use plisse::io::scene_file::ClothTable;
use plisse::picture::{Look, Part, Rgb, Surface};
use plisse::scene::{BodyInfo, DrawnYarns, Kind};
use plisse::yarn::{Family, Patch};

use crate::picture::rgb;

/// The tubes of a body, with the triangles of each colour.
pub(crate) struct Tubes {
    pub(crate) drawn: DrawnYarns,
    coloured: Vec<(Rgb, Vec<[u32; 3]>)>,
}

impl Tubes {
    /// Of a body whose vertices are at `x`; none if it is not made of yarns. `usual` are the
    /// colours of warp and weft where the file says nothing.
    pub(crate) fn new(
        body: &BodyInfo,
        x: &[DVec3],
        table: Option<&ClothTable>,
        usual: [Rgb; 2],
    ) -> Option<Self> {
        let Kind::Yarns { model, .. } = &body.kind else { return None };
        let drawn = body.drawn_yarns(x)?;
        let colours = colours(model.patch(), table, usual);
        let mut coloured: Vec<(Rgb, Vec<[u32; 3]>)> = Vec::new();
        for (face, yarn) in drawn.faces.iter().zip(&drawn.face_yarns) {
            let colour = colours[*yarn as usize];
            match coloured.iter_mut().find(|(other, _)| *other == colour) {
                Some((_, faces)) => faces.push(*face),
                None => coloured.push((colour, vec![*face])),
            }
        }
        Some(Self { drawn, coloured })
    }

    /// A part for each colour, or one that shows values at the points.
    pub(crate) fn parts<'a>(&'a self, look: Option<Look<'a>>) -> Vec<Part<'a>> {
        let points = &self.drawn.points;
        match look {
            Some(look) => {
                vec![Part::Surface(Surface::cloth(points, &self.drawn.faces).with_look(look))]
            }
            None => {
                let one = |(colour, faces): &'a (Rgb, Vec<[u32; 3]>)| {
                    let look = Look::Plain { front: *colour, back: *colour };
                    Part::Surface(Surface::cloth(points, faces).with_look(look))
                };
                self.coloured.iter().map(one).collect()
            }
        }
    }
}

/// The colour of each yarn: its own, that of its family, that of the cloth, or the usual one.
fn colours(patch: &Patch, table: Option<&ClothTable>, usual: [Rgb; 2]) -> Vec<Rgb> {
    let of_cloth = table.and_then(|table| table.colour.as_ref()).map(rgb);
    let yarn = table.and_then(|table| table.yarn.as_ref());
    let of_families = [yarn.map(|yarn| &yarn.warp), yarn.map(|yarn| &yarn.weft)]
        .map(|family| family.and_then(|family| family.colour.as_ref()).map(rgb));
    let single = |name: &str| {
        let mut all = yarn.iter().flat_map(|yarn| &yarn.single);
        all.find(|single| single.yarn == name && single.colour.is_some())?.colour.as_ref().map(rgb)
    };
    let colour = |yarn: &plisse::yarn::Yarn| {
        let family = usize::from(yarn.family == Family::Weft);
        // The weft a little lighter, so that one sees the weave.
        let of_cloth = of_cloth.map(|colour| if family == 1 { lighter(colour) } else { colour });
        single(&yarn.name()).or(of_families[family]).or(of_cloth).unwrap_or(usual[family])
    };
    patch.yarns().iter().map(colour).collect()
}

fn lighter(colour: Rgb) -> Rgb {
    colour.map(|part| part + (255 - part) / 3)
}
