//! First fundamental forms and strains of rest and base.
