//! The clocks change nothing, and words mean what the help says.

use plisse::core::Positive;
use plisse::system::{Criterion, Implicit, Integrator, NewtonSettings, Scheme};

use super::book::Shared;
use super::read;
use super::scene::{FRICTION, Layout};

#[test]
fn clocked_terms_take_the_same_steps() {
    let layout = Layout::drape(8);
    let book = Shared::default();
    let ends = [None, Some(&book)].map(|book| {
        let (system, mut state) = layout.system(Some(FRICTION), book).unwrap();
        let mut integrator =
            Implicit::new(&system, Scheme::BackwardEuler, NewtonSettings::default()).unwrap();
        for _ in 0..10 {
            if let Some(book) = book {
                book.lock().open();
            }
            integrator.step(&system, &mut state, Positive::literal(0.005)).unwrap();
            if let Some(book) = book {
                book.lock().close();
            }
        }
        state.x().clone()
    });
    assert_eq!(ends[0], ends[1]);
    // The ball was touched, and the calls were seen.
    assert!(book.lock().mean_blocks() > 0.0);
}

#[test]
fn words_choose_scenes_and_steps() {
    let all = read(&[]).unwrap();
    assert!(all.free && all.drape && all.stack && all.steps == [200, 60] && all.vertices.is_none());
    let one = read(&["drape", "30", "5ms", "every"]).unwrap();
    assert!(one.drape && !one.stack && !one.free && one.steps == [200] && one.vertices == Some(30));
    assert!(matches!(one.newton.criterion, Criterion::ForcePerMass(_)));
    assert!(read(&["2"]).is_err() && read(&["ball"]).is_err());
}
