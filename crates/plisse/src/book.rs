//! Compiles the examples of the README and of the book.

macro_rules! pages {
    ($($name:ident: $path:literal),* $(,)?) => {
        $(
            #[doc = include_str!(concat!("../../../", $path))]
            mod $name {}
        )*
    };
}

pages! {
    readme: "README.md",
    getting_started: "docs/src/getting-started.md",
    stretch: "docs/src/energies/stretch.md",
    quartic_stretch: "docs/src/energies/quartic-stretch.md",
    green_stretch: "docs/src/energies/green-stretch.md",
    shear: "docs/src/energies/shear.md",
    quartic_shear: "docs/src/energies/quartic-shear.md",
    baraff_witkin: "docs/src/energies/baraff-witkin.md",
    arap: "docs/src/energies/arap.md",
    st_venant_kirchhoff: "docs/src/energies/st-venant-kirchhoff.md",
    tension_field: "docs/src/energies/tension-field.md",
    strain_limit: "docs/src/energies/strain-limit.md",
    corotational: "docs/src/energies/corotational.md",
    neo_hookean_log: "docs/src/energies/neo-hookean-log.md",
    neo_hookean_incompressible: "docs/src/energies/neo-hookean-incompressible.md",
    neo_hookean_stable: "docs/src/energies/neo-hookean-stable.md",
    developable: "docs/src/constrained/developable.md",
    yarns: "docs/src/yarn/yarns.md",
    bending_cosine: "docs/src/bending/cosine-angle.md",
    bending_hinge: "docs/src/bending/hinge.md",
    bending_rod: "docs/src/bending/rod.md",
    bending_planar: "docs/src/bending/planar.md",
    bending_quadratic: "docs/src/bending/quadratic-bending.md",
    bending_koiter: "docs/src/bending/koiter.md",
    damping: "docs/src/damping/strain-rate.md",
    contact_ccd: "docs/src/contact/ccd.md",
    contact_response: "docs/src/contact/response.md",
    contact_barrier: "docs/src/contact/barrier.md",
    combinations: "docs/src/energies/combinations.md",
    wrinkle_base: "docs/src/wrinkle/base.md",
    wrinkle_energy: "docs/src/wrinkle/energy.md",
    wrinkle_solver: "docs/src/wrinkle/solver.md",
    wrinkle_phase: "docs/src/wrinkle/phase.md",
    wrinkle_surface: "docs/src/wrinkle/surface.md",
    system: "docs/src/system/system.md",
    extending_membrane_law: "docs/src/extending/membrane-law.md",
    extending_angle_law: "docs/src/extending/angle-law.md",
    extending_damping_strain: "docs/src/extending/damping-strain.md",
    extending_element: "docs/src/extending/element.md",
    extending_changing_pairs: "docs/src/extending/changing-pairs.md",
    extending_obstacle: "docs/src/extending/obstacle.md",
    extending_integrator: "docs/src/extending/integrator.md",
    extending_scene_key: "docs/src/extending/scene-key.md",
    extending_scene: "docs/src/extending/scene.md",
}
