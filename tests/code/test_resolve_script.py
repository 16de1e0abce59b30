"""Relations of JavaScript and TypeScript files, from written types and imports."""

from __future__ import annotations

from tests.code.small_projects import resolved

MUSIC = {
    "src/song.ts": """
        import Media, { Streamed } from './media'
        import type { Player } from '@/players'
        export interface Playable { play(): void }
        export class Song extends Media implements Playable, Streamed {
          private album: Album = new Album()
          constructor(private readonly player: Player, public title: string) { super() }
          play(): void { this.player.start(this); this.prepare() }
          album_(): Album { return this.album }
          self(): this { return this }
          later(): Promise<Album> { return Promise.resolve(this.album) }
        }
        export class Album { title(): string { return '' } }
        """,
    "src/media/index.ts": """
        export default class Media { prepare() {} }
        export interface Streamed {}
        """,
    "src/players/index.ts": "export * from './loud'\nexport { Quiet as Silent } from './quiet.js'\n",
    "src/players/loud.tsx": "export class Player { start(what: unknown) {} }\n",
    "src/players/quiet.ts": "export class Quiet { stop() {} }\nexport function hush(): Quiet { return new Quiet() }\n",
    "tsconfig.json": (
        '{\n  // where things are\n  "compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*"],}}\n}\n'
    ),
}


def test_parents_and_interfaces_are_linked_through_imports() -> None:
    project = resolved(MUSIC)
    song = "class:src/song.ts#Song"
    assert project.links("EXTENDS") == {(song, "class:src/media/index.ts#Media")}
    assert project.links("IMPLEMENTS") == {
        (song, "class:src/song.ts#Playable"),
        (song, "class:src/media/index.ts#Streamed"),
    }


def test_this_fields_and_typed_parameters_lead_to_methods() -> None:
    project = resolved(MUSIC)
    assert project.calls_of("method:src/song.ts#Song.play") == {
        "method:src/players/loud.tsx#Player.start",
        "method:src/media/index.ts#Media.prepare",
    }


def test_imports_by_path_package_and_pattern_lead_to_what_they_name() -> None:
    project = resolved(
        MUSIC
        | {
            "src/app.ts": """
                import { Song } from './song.js'
                import * as players from './players/quiet'
                import { Silent, Player as P } from '@/players'
                import { other } from 'elsewhere'
                export async function run(song: Song | null, any, players2: P[]) {
                  song!.self().album_().title()
                  players.hush().stop()
                  new Silent().stop()
                  const p = new P()
                  p.start(1)
                  const h = players.hush()
                  h.stop();
                  (await song.later()).title()
                  any.play()
                  players2.start()
                  other.go()
                  parseInt('1')
                }
                """
        }
    )
    run = "function:src/app.ts#run"
    assert project.calls_of(run) == {
        "method:src/song.ts#Song.self",
        "method:src/song.ts#Song.album_",
        "method:src/song.ts#Song.later",
        "method:src/song.ts#Album.title",
        "function:src/players/quiet.ts#hush",
        "method:src/players/quiet.ts#Quiet.stop",
        "class:src/players/quiet.ts#Quiet",
        "class:src/players/loud.tsx#Player",
        "method:src/players/loud.tsx#Player.start",
    }
    assert project.reasons(run) == {
        "any play": "the type of any is not written",
        "players2 start": "the type of P[] is not written",
        "other go": "not in this project",
    }


def test_this_in_a_function_inside_of_a_method_is_not_the_class() -> None:
    text = """
        class Song {
          play() {}
          start() {
            function inner() { this.play() }
            const bound = { go() { this.play() } }
          }
        }
        """
    project = resolved({"a.js": text})
    assert project.links() == set()


def test_a_function_with_the_name_of_a_type_is_what_is_called() -> None:
    project = resolved(
        {
            "a.ts": "interface Box {}\nfunction Box(): Box { return {} }\nBox()\nfunction f(box: Box) { box.x() }\n"
        }
    )
    assert project.links() == {("file:a.ts", "function:a.ts#Box")}
    assert {node.key for node in project.graph.nodes} >= {"class:a.ts#Box", "function:a.ts#Box"}


def test_modules_in_the_older_form_are_followed_by_their_path() -> None:
    project = resolved(
        {
            "lib/tools.js": "exports.clean = function clean() {}\nfunction helper() {}\n",
            "app.js": (
                "const tools = require('./lib/tools')\nconst { clean } = require('./lib/tools')\n"
                "tools.clean()\nclean()\n"
            ),
        }
    )
    assert project.links() == {("file:app.js", "function:lib/tools.js#clean")}


def test_methods_with_the_same_name_in_unrelated_classes_are_not_linked() -> None:
    project = resolved(
        {
            "a.ts": "export class Song { play() {} }",
            "b.ts": "export class Game { play() {} }",
            "c.ts": (
                "import { Song } from './a'\nfunction start(it, song) { it.play(); song.play(); "
                "all.forEach(song => song.play()) }"
            ),
        }
    )
    assert project.links() == set()
    assert {(row.receiver, row.name) for row in project.graph.unresolved} >= {
        ("it", "play"),
        ("song", "play"),
    }


def test_a_decorator_without_brackets_is_called_by_the_code_around_it() -> None:
    project = resolved(
        {
            "trace.ts": "export function trace(what: any) {}\n",
            "a.ts": (
                "import { trace } from './trace'\n"
                "import * as all from './trace'\n"
                "@trace\n"
                "export class A {\n"
                "  @all.trace\n"
                "  run() {}\n"
                "}\n"
            ),
        }
    )
    rows = [(link.source, link.line) for link in project.graph.links if link.kind == "CALLS"]
    assert rows == [("file:a.ts", 3), ("class:a.ts#A", 5)]
