//! Pictures of a scene.

use glam::DVec3;
use plisse::core::Vertices;
use plisse::file::Loaded;
use plisse::io::scene_file::{Colour, ColourBy, SceneFile, Up};
use plisse::picture::{
    Camera, ColourMap, Drawing, Ground, Look, Part, Picture, RenderOptions, Rgb, Surface, Wires, render,
    value_range,
};
use plisse::scene::{BodyInfo, DrawnSurface, Kind, Obstacle, SmoothSheet};
use plisse::system::State;
use plisse::wrinkle::WrinkledSurface;

use crate::error::Failure;
use crate::yarn_picture::Tubes;

/// Colours of bodies that have none: front and back.
const COLOURS: [[Rgb; 2]; 5] = [
    [[74, 112, 152], [176, 148, 118]],
    [[168, 90, 84], [196, 178, 160]],
    [[96, 132, 104], [186, 176, 140]],
    [[146, 116, 158], [188, 174, 164]],
    [[198, 154, 84], [150, 140, 130]],
];
const WIRE: Rgb = [92, 96, 104];

/// What a picture shows, besides the state.
pub(crate) struct View {
    pub(crate) camera: Camera,
    pub(crate) options: RenderOptions,
    pub(crate) wireframe: bool,
    pub(crate) colour_by: ColourBy,
    pub(crate) colour_range: Option<[f64; 2]>,
}

/// The box around everything that will be seen.
pub(crate) struct Bounds {
    low: DVec3,
    high: DVec3,
}

impl Bounds {
    pub(crate) fn none() -> Self {
        Self { low: DVec3::INFINITY, high: DVec3::NEG_INFINITY }
    }

    pub(crate) fn add(&mut self, points: &[DVec3]) {
        for x in points.iter().filter(|x| x.is_finite()) {
            (self.low, self.high) = (self.low.min(*x), self.high.max(*x));
        }
    }

    /// Adds the obstacles as they are at a time.
    pub(crate) fn add_obstacles(&mut self, obstacles: &[Obstacle], time: f64) {
        for obstacle in obstacles {
            if let Some((x, _)) = obstacle.surface(time) {
                self.add(&x);
            }
        }
    }
}

fn up_axis(file: &SceneFile) -> DVec3 {
    if file.up == Up::Y { DVec3::Y } else { DVec3::Z }
}

impl View {
    /// The view that the file asks for, of things within these bounds.
    pub(crate) fn new(
        file: &SceneFile,
        obstacles: &[Obstacle],
        bounds: &Bounds,
        size: Option<[u32; 2]>,
    ) -> Result<Self, Failure> {
        let table = &file.camera;
        let up = up_axis(file);
        let size = size.unwrap_or(table.size.map(|pixels| pixels.0));
        let mut options = RenderOptions { size, ..RenderOptions::default() };
        if table.ground {
            options.ground = Some(Ground { up, height: ground_height(file, obstacles, bounds, up) });
        }
        let (from, angle) = (Camera::three_quarter(up), table.field_of_view.0);
        let framed = Camera::framing_box([bounds.low, bounds.high], from, up, options.aspect(), angle)?;
        let camera = match (table.from, table.at) {
            (None, None) => framed,
            (from, at) => Camera {
                from: from.unwrap_or(framed.from),
                at: at.unwrap_or(framed.at),
                up,
                field_of_view: table.field_of_view.0,
            },
        };
        Ok(Self {
            camera,
            options,
            wireframe: table.wireframe,
            colour_by: table.colour_by,
            colour_range: table.colour_range.map(|range| range.to_array()),
        })
    }

    /// Whether the file says all of it, so that pictures can be taken before the last frame is
    /// known: where the camera is, what it looks at, how high the ground is, which colours.
    pub(crate) fn is_known(file: &SceneFile, obstacles: &[Obstacle]) -> bool {
        let table = &file.camera;
        let ground = !table.ground || ground_level(file, obstacles, up_axis(file)).is_some();
        let colours = table.colour_by == ColourBy::Material || table.colour_range.is_some();
        table.from.is_some() && table.at.is_some() && ground && colours
    }

    /// The numbers that colours show, for each vertex; none if they show materials.
    pub(crate) fn values(&self, body: &BodyInfo, state: &State<Vertices>, up: DVec3) -> Option<Vec<f64>> {
        let x = &state.x().as_slice()[body.vertices.clone()];
        match self.colour_by {
            // Scenes of wrinkles have values of their own; others are refused with these names.
            ColourBy::Material | ColourBy::Amplitude | ColourBy::Phase => None,
            ColourBy::Strain => Some(body.strain(state)),
            ColourBy::Speed => {
                Some(state.v().as_slice()[body.vertices.clone()].iter().map(|v| v.length()).collect())
            }
            ColourBy::Height => Some(x.iter().map(|x| x.dot(up)).collect()),
        }
    }

    /// Widens the range of colours to what a moment has, unless the file fixes it.
    pub(crate) fn widen(&mut self, loaded: &Loaded, state: &State<Vertices>) {
        if self.colour_by == ColourBy::Material || loaded.file.camera.colour_range.is_some() {
            return;
        }
        let up = up_axis(&loaded.file);
        // Wires have no colours of their own to show.
        let bodies = loaded.scene.bodies().iter().filter(|body| !matches!(body.kind, Kind::Wires { .. }));
        let values = bodies.filter_map(|body| self.values(body, state, up)).flatten();
        let mut range = self.colour_range;
        for value in values.filter(|value| value.is_finite()) {
            let [low, high] = range.unwrap_or([value, value]);
            range = Some([low.min(value), high.max(value)]);
        }
        self.colour_range = range;
    }

    /// Takes the picture.
    pub(crate) fn take(&self, loaded: &Loaded, state: &State<Vertices>) -> Result<Picture, Failure> {
        let up = up_axis(&loaded.file);
        let bodies = loaded.scene.bodies();
        let positions = |body: &BodyInfo| &state.x().as_slice()[body.vertices.clone()];
        let tubes: Vec<Option<Tubes>> = (0..)
            .zip(bodies)
            .map(|(index, body)| {
                let usual = COLOURS[index % COLOURS.len()];
                Tubes::new(body, positions(body), loaded.file.cloth.get(index), usual)
            })
            .collect();
        let smooth = loaded.scene.smooth_sheets(state, loaded.file.output.smooth);
        let on_points = |(index, body): (usize, &BodyInfo)| {
            let values = self.values(body, state, up)?;
            Some(match (&tubes[index], &smooth[index]) {
                (Some(tubes), _) => tubes.drawn.on_points(&values),
                (None, Some(smooth)) => smooth.on_points(&values),
                (None, None) => values,
            })
        };
        let fields: Vec<Option<Vec<f64>>> = bodies.iter().enumerate().map(on_points).collect();
        let drawn_faces = |(body, smooth): (&BodyInfo, &Option<SmoothSheet>)| {
            smooth.as_ref().map_or_else(|| faces(body), |smooth| smooth.faces.clone())
        };
        let faces: Vec<Vec<[u32; 3]>> = bodies.iter().zip(&smooth).map(drawn_faces).collect();
        let obstacles = drawn_obstacles(&loaded.file, loaded.scene.obstacles(), state.time());
        let colours = body_colours(&loaded.file);
        let mut parts = Vec::new();
        for (index, body) in bodies.iter().enumerate() {
            let positions = smooth[index].as_ref().map_or_else(|| positions(body), |smooth| &smooth.points);
            let [front, back] = colours
                .get(index)
                .copied()
                .flatten()
                .map_or_else(|| COLOURS[index % COLOURS.len()], |colour| [colour, colour]);
            let scalar = fields[index].as_ref().map(|values| Look::Scalar {
                values,
                // Widened where all values are the same.
                range: value_range(self.colour_range.unwrap_or([0.0, 1.0])),
                map: ColourMap::Sequential,
                label: label(self.colour_by),
            });
            match &body.kind {
                Kind::Yarns { .. } => parts.extend(tubes[index].iter().flat_map(|t| t.parts(scalar.clone()))),
                Kind::Cloth { .. } => {
                    let look = scalar.unwrap_or(Look::Plain { front, back });
                    let surface = Surface::cloth(positions, &faces[index]).with_look(look);
                    parts.push(Part::Surface(Surface { edges: self.wireframe, ..surface }));
                }
                Kind::Wires { segments, radius, .. } => {
                    let colour = colours.get(index).copied().flatten().unwrap_or(WIRE);
                    parts.push(Part::Wires(Wires { positions, segments, radius: *radius, colour }));
                }
            }
        }
        parts.extend(obstacles.iter().map(obstacle_part));
        Ok(render(&Drawing { parts }, &self.camera, &self.options)?)
    }

    /// Takes the picture of a wrinkled surface. Colours of amplitudes and heights go up to the ends
    /// of the range.
    pub(crate) fn take_wrinkles(
        &self,
        file: &SceneFile,
        obstacles: &[Obstacle],
        surface: &WrinkledSurface,
        time: f64,
    ) -> Result<Picture, Failure> {
        let faces: Vec<[u32; 3]> =
            surface.mesh.faces().as_slice().iter().map(|f| f.map(plisse::core::Id::get)).collect();
        let values = self.wrinkle_values(file, surface);
        let [front, back] =
            body_colours(file).first().copied().flatten().map_or(COLOURS[0], |colour| [colour, colour]);
        let look = match &values {
            None => Look::Plain { front, back },
            Some(values) if self.colour_by == ColourBy::Phase => {
                let range = [-std::f64::consts::PI, std::f64::consts::PI];
                Look::Scalar { values, range, map: ColourMap::Cyclic, label: label(self.colour_by) }
            }
            Some(values) => {
                let range = value_range(self.colour_range.unwrap_or([0.0, 1.0]));
                Look::Scalar { values, range, map: ColourMap::Sequential, label: label(self.colour_by) }
            }
        };
        let cloth = Surface::cloth(surface.x.as_slice(), &faces).with_look(look);
        let mut parts = vec![Part::Surface(Surface { edges: self.wireframe, ..cloth })];
        let drawn = drawn_obstacles(file, obstacles, time);
        parts.extend(drawn.iter().map(obstacle_part));
        Ok(render(&Drawing { parts }, &self.camera, &self.options)?)
    }

    /// Widens the range of colours to what a wrinkled surface has, unless the file fixes it.
    /// Amplitudes start at zero.
    pub(crate) fn widen_wrinkles(&mut self, file: &SceneFile, surface: &WrinkledSurface) {
        if file.camera.colour_range.is_some() {
            return;
        }
        let Some(values) = self.wrinkle_values(file, surface) else { return };
        for value in values.into_iter().filter(|value| value.is_finite()) {
            let first = if self.colour_by == ColourBy::Amplitude { [0.0, value] } else { [value, value] };
            let [low, high] = self.colour_range.unwrap_or(first);
            self.colour_range = Some([low.min(value), high.max(value)]);
        }
    }

    fn wrinkle_values(&self, file: &SceneFile, surface: &WrinkledSurface) -> Option<Vec<f64>> {
        let up = up_axis(file);
        let amplitude = surface.amplitude.as_slice();
        match self.colour_by {
            ColourBy::Material | ColourBy::Strain | ColourBy::Speed => None,
            ColourBy::Height => Some(surface.x.as_slice().iter().map(|x| x.dot(up)).collect()),
            ColourBy::Amplitude => Some(amplitude.to_vec()),
            ColourBy::Phase => {
                let least = FAINT * amplitude.iter().fold(0.0, |m: f64, a| m.max(*a));
                let phases = surface.phase.as_slice().iter().zip(amplitude);
                Some(phases.map(|(phase, a)| if *a > least { *phase } else { f64::NAN }).collect())
            }
        }
    }
}

/// Below this part of the largest amplitude a phase is not shown: there is nothing to see of it.
const FAINT: f64 = 0.01;

type DrawnObstacle = (DrawnSurface, Option<Rgb>);

fn drawn_obstacles(file: &SceneFile, obstacles: &[Obstacle], time: f64) -> Vec<DrawnObstacle> {
    let with_tables = obstacles.iter().zip(&file.obstacle);
    with_tables
        .filter_map(|(obstacle, table)| Some((obstacle.surface(time)?, table.colour.as_ref().map(rgb))))
        .collect()
}

fn obstacle_part(((positions, faces), colour): &DrawnObstacle) -> Part<'_> {
    let mut surface = Surface::obstacle(positions, faces);
    if let Some(colour) = *colour {
        surface = surface.with_look(Look::Plain { front: colour, back: colour });
    }
    Part::Surface(surface)
}

fn label(colour_by: ColourBy) -> &'static str {
    match colour_by {
        ColourBy::Material => "",
        ColourBy::Strain => "strain",
        ColourBy::Speed => "speed m/s",
        ColourBy::Height => "height m",
        ColourBy::Amplitude => "amplitude m",
        ColourBy::Phase => "phase rad",
    }
}

pub(crate) fn faces(body: &BodyInfo) -> Vec<[u32; 3]> {
    match &body.kind {
        Kind::Cloth { mesh, .. } => {
            mesh.faces().as_slice().iter().map(|f| f.map(plisse::core::Id::get)).collect()
        }
        Kind::Wires { .. } | Kind::Yarns { .. } => Vec::new(),
    }
}

pub(crate) fn rgb(colour: &Colour) -> Rgb {
    colour.map(|part| (255.0 * part.0).round() as u8)
}

/// The colours that the file gives, in the order of the bodies.
fn body_colours(file: &SceneFile) -> Vec<Option<Rgb>> {
    let cloths = file.cloth.iter().map(|table| &table.colour);
    let wires = file.wires.iter().map(|table| &table.colour);
    cloths.chain(wires).map(|colour| colour.as_ref().map(rgb)).collect()
}

/// Where the file says, or on a plane that faces upwards.
fn ground_level(file: &SceneFile, obstacles: &[Obstacle], up: DVec3) -> Option<f64> {
    let planes = obstacles.iter().filter_map(|obstacle| obstacle.as_plane(0.0));
    let level = planes.filter(|(_, normal)| normal.dot(up) > 0.99).map(|(point, _)| point.dot(up));
    file.camera.ground_height.or_else(|| level.reduce(f64::max))
}

/// Where the file says, on a plane that faces upwards, or just below everything.
fn ground_height(file: &SceneFile, obstacles: &[Obstacle], bounds: &Bounds, up: DVec3) -> f64 {
    match ground_level(file, obstacles, up) {
        Some(height) => height,
        None if bounds.low.is_finite() => {
            let size = (bounds.high - bounds.low).length();
            bounds.low.dot(up) - 0.02 * size
        }
        None => 0.0,
    }
}
