//! Keeps tracks.
use std::collections::{BTreeMap, HashMap as Map};
use std::fmt::{self, Display};
use crate::audio::*;

/// The most tracks a library holds.
pub const MAX_TRACKS: usize = 500;
static GREETING: &str = "hello";

/// How loud.
#[derive(Debug, Clone)]
pub enum Loudness {
    /// Hardly.
    Quiet,
    Loud { by: u8 },
}

#[derive(Default)]
pub struct Library<'a, S: Store> {
    tracks: Map<String, Track>,
    pub store: &'a S,
    next: Option<Box<Library<'a, S>>>,
}

/// Makes a sound.
pub trait Playable: Display {
    const KIND: u8;
    type Output;
    /// Plays.
    fn play(&self, loudness: Loudness) -> Result<(), Error>;
    fn stop(&mut self) {
        self.halt();
    }
}

impl<'a, S: Store> Library<'a, S> {
    /// Makes one.
    ///
    /// It is empty.
    #[inline]
    pub fn new(store: &'a S) -> Self {
        let tracks = Map::new();
        Library { tracks, store, next: None }
    }

    pub async fn add(&mut self, track: Track) -> usize {
        let player: Player = Player::start(&track);
        player.play(Loudness::Quiet);
        self.store.save(&track).await;
        log!("added {}", track);
        self.tracks.len()
    }
}

impl<'a, S: Store> fmt::Display for Library<'a, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", GREETING)
    }
}

pub type Tracks = Vec<Track>;

macro_rules! log {
    ($($arg:tt)*) => { println!($($arg)*) };
}

mod inner {
    pub(super) fn helper() -> u8 { 1 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds() { assert_eq!(super::inner::helper(), 1); }
}
