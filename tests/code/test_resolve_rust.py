"""Relations of Rust files, from written types and imports."""

from __future__ import annotations

from tests.code.small_projects import resolved

CRATES = {
    "music/Cargo.toml": '[package]\nname = "music-box"\nversion = "1.0.0"\n',
    "music/src/lib.rs": "pub mod song;\nmod player;\npub use self::player::Player;\npub use song::*;\n",
    "music/src/player.rs": """
        pub struct Player;
        impl Player {
            pub fn new() -> Self { Player {} }
            pub fn start(&self) -> &Self { self }
        }
        """,
    "music/src/song/mod.rs": """
        use crate::Player;
        use super::player;
        use std::fmt;

        pub trait Playable { fn play(&self); }

        pub struct Song { player: Player, jar: cookie::Jar }

        impl Playable for Song {
            fn play(&self) {
                self.player.start().start();
                self.prepare();
                Self::make();
                player::Player::new();
                helper();
                self.jar.add();
                fmt::format();
                tools!();
            }
        }

        impl Song {
            fn prepare(&self) {}
            fn make() -> Song { todo!() }
        }

        fn helper() {}
        macro_rules! tools { () => {} }
        """,
    "music/src/song/cookie.rs": "pub struct Other;\n",
    "app/Cargo.toml": '[package]\nname = "app"\n',
    "app/src/main.rs": """
        use music_box::{Player as P, song::Song};

        fn main(song: &mut Song, any: Vec<Song>) {
            P::new().start();
            song.play();
            any.play();
        }

        mod tests {
            use super::*;
            fn check() { main(); P::new(); }
        }
        """,
}


def test_paths_impl_blocks_and_fields_are_followed() -> None:
    project = resolved(CRATES)
    assert project.links("IMPLEMENTS") == {
        ("class:music/src/song/mod.rs#Song", "class:music/src/song/mod.rs#Playable")
    }
    assert project.calls_of("method:music/src/song/mod.rs#Song.play") == {
        "method:music/src/player.rs#Player.start",
        "method:music/src/player.rs#Player.new",
        "method:music/src/song/mod.rs#Song.prepare",
        "method:music/src/song/mod.rs#Song.make",
        "function:music/src/song/mod.rs#helper",
        "function:music/src/song/mod.rs#tools",
    }


def test_another_crate_of_the_project_is_found_by_its_name() -> None:
    project = resolved(CRATES)
    assert project.calls_of("function:app/src/main.rs#main") == {
        "method:music/src/player.rs#Player.new",
        "method:music/src/player.rs#Player.start",
        "method:music/src/song/mod.rs#Song.play",
    }
    assert project.calls_of("function:app/src/main.rs#tests.check") == {
        "function:app/src/main.rs#main",
        "method:music/src/player.rs#Player.new",
    }
