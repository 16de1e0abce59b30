"""Relations of Java, Kotlin, C#, Go, Ruby, Swift, C and C++ files, from written types and imports."""

from __future__ import annotations

from tests.code.small_projects import resolved

JAVA = {
    "src/com/acme/model/Song.java": """
        package com.acme.model;
        import com.acme.play.*;
        public class Song extends Media implements Playable {
            private final Player player;
            private Album album;
            public Song(Player player) { this.player = player; }
            public Album album() { return album; }
            public void play() { player.start(); prepare(); this.album.title(); album().title(); }
            static class Album { String title() { return ""; } }
        }
        """,
    "src/com/acme/model/Media.java": "package com.acme.model;\nabstract class Media { void prepare() {} }\n",
    "src/com/acme/play/Player.java": """
        package com.acme.play;
        public interface Playable { void play(); }
        public class Player { public void start() {} }
        """,
}


def test_java_follows_packages_imports_fields_and_nesting() -> None:
    project = resolved(JAVA)
    song = "class:src/com/acme/model/Song.java#Song"
    assert project.links("EXTENDS") == {(song, "class:src/com/acme/model/Media.java#Media")}
    assert project.links("IMPLEMENTS") == {
        (song, "class:src/com/acme/play/Player.java#Playable")
    }
    assert project.calls_of("method:src/com/acme/model/Song.java#Song.play") == {
        "method:src/com/acme/play/Player.java#Player.start",
        "method:src/com/acme/model/Media.java#Media.prepare",
        "method:src/com/acme/model/Song.java#Song.Album.title",
        "method:src/com/acme/model/Song.java#Song.album",
    }


def test_java_only_imports_decide_between_types_with_the_same_name() -> None:
    user = """
        package com.acme;
        {imports}
        class User {{
            void go(Song song, Object it, java.util.List<Song> all) {{ song.play(); it.play(); all.play(); }}
        }}
        """
    files = {
        "a/Song.java": "package org.a;\npublic class Song { public void play() {} }\n",
        "b/Song.java": "package org.b;\npublic class Song { public void play() {} }\n",
    }
    go = "method:User.java#User.go"
    sure = resolved(files | {"User.java": user.format(imports="import org.b.Song;")})
    assert sure.calls_of(go) == {"method:b/Song.java#Song.play"}
    unsure = resolved(
        files | {"User.java": user.format(imports="import org.a.*; import org.b.*;")}
    )
    assert unsure.calls_of(go) == set()
    assert unsure.reasons(go)["song play"] == "several types are named Song"
    none = resolved(files | {"User.java": user.format(imports="")})
    assert none.links() == set()
    assert none.reasons(go) == {
        "song play": "not in this project",
        "it play": "not in this project",
        "all play": "not in this project",
    }


def test_kotlin_follows_packages_properties_and_created_instances() -> None:
    project = resolved(
        {
            "Song.kt": """
                package music
                import play.Player
                interface Playable {
                    interface Loud
                }
                open class Media {
                    fun prepare() {}
                }
                class Song(private val player: Player) : Media(), Playable.Loud {
                    val album: Album? = null
                    fun play(other: Song) {
                        player.start()
                        prepare()
                        other.play(this)
                        album?.title()
                    }
                }
                class Album {
                    fun title() = ""
                }
                fun make(): Song {
                    val p = Player()
                    p.start()
                    return Song(p)
                }
                """,
            "Player.kt": "package play\nclass Player {\n    fun start() {}\n}\n",
        }
    )
    assert project.links("EXTENDS") == {("class:Song.kt#Song", "class:Song.kt#Media")}
    assert project.links("IMPLEMENTS") == {
        ("class:Song.kt#Song", "class:Song.kt#Playable.Loud")
    }
    assert project.calls_of("method:Song.kt#Song.play") == {
        "method:Player.kt#Player.start",
        "method:Song.kt#Media.prepare",
        "method:Song.kt#Song.play",
        "method:Song.kt#Album.title",
    }
    assert project.calls_of("function:Song.kt#make") == {
        "class:Player.kt#Player",
        "method:Player.kt#Player.start",
        "class:Song.kt#Song",
    }


def test_csharp_follows_namespaces_usings_and_partial_classes() -> None:
    project = resolved(
        {
            "Song.cs": """
                using Acme.Play;
                namespace Acme.Music;
                public partial class Song : Media, IPlayable {
                    private readonly Player _player;
                    public Album Album { get; set; }
                    public Song(Player player) { _player = player; }
                    public void Play() {
                        _player.Start(); Stop(); base.Prepare(); Album.Title();
                        var p = new Player(); p.Start();
                    }
                }
                """,
            "Song.Stop.cs": "namespace Acme.Music;\npublic partial class Song { public void Stop() {} }\n",
            "Media.cs": (
                "namespace Acme { public class Media { public void Prepare() {} } public interface IPlayable {} }\n"
            ),
            "Album.cs": "namespace Acme.Music { public class Album { public string Title() => null; } }\n",
            "Player.cs": "namespace Acme.Play { public class Player { public void Start() {} } }\n",
        }
    )
    assert ("class:Song.cs#Song", "class:Media.cs#Media") in project.links("EXTENDS")
    assert project.links("IMPLEMENTS") == {("class:Song.cs#Song", "class:Media.cs#IPlayable")}
    assert project.calls_of("method:Song.cs#Song.Play") == {
        "method:Player.cs#Player.Start",
        "method:Song.Stop.cs#Song.Stop",
        "method:Media.cs#Media.Prepare",
        "method:Album.cs#Album.Title",
        "class:Player.cs#Player",
    }


def test_go_follows_folders_modules_and_receivers() -> None:
    project = resolved(
        {
            "go.mod": "module example.org/music\n\ngo 1.22\n",
            "song.go": """
                package music

                import (
                    "fmt"
                    "example.org/music/play"
                    other "example.org/else"
                )

                type Media struct{}
                func (m *Media) Prepare() {}

                type Song struct {
                    *Media
                    player *play.Player
                }

                func (s *Song) Play(all []Song) {
                    s.player.Start()
                    s.Prepare()
                    helper()
                    fmt.Println(len(all))
                    p := play.New()
                    p.Start()
                    other.Go()
                    all.Play(nil)
                }
                """,
            "tools.go": "package music\n\nfunc helper() {}\n",
            "play/player.go": (
                "package play\n\ntype Player struct{}\n\nfunc New() *Player { return &Player{} }\n\n"
                "func (p *Player) Start() {}\n"
            ),
        }
    )
    assert project.links("EXTENDS") == {("class:song.go#Song", "class:song.go#Media")}
    play = "method:song.go#Song.Play"
    assert project.calls_of(play) == {
        "method:play/player.go#Player.Start",
        "method:song.go#Media.Prepare",
        "function:tools.go#helper",
        "function:play/player.go#New",
    }
    assert project.reasons(play)["other Go"] == "not in this project"


def test_ruby_follows_constants_modules_and_created_instances() -> None:
    project = resolved(
        {
            "song.rb": """
                module Music
                  class Song < Media
                    include Playable
                    def initialize
                      @player = Player.new
                    end
                    def start
                      play(1)
                      prepare(2)
                      @player.run
                      Music::Player.new.run
                      unknown.run
                    end
                  end
                end
                """,
            "media.rb": (
                "module Music\n  class Media\n    def prepare(x)\n    end\n  end\n  module Playable\n "
                "   def play(x)\n    end\n  end\nend\n"
            ),
            "player.rb": "class Player\nend\nclass Music::Player\n  def run\n  end\nend\n",
        }
    )
    assert project.links("EXTENDS") == {
        ("class:song.rb#Music.Song", "class:media.rb#Music.Media")
    }
    assert project.links("USES_TRAIT") == {
        ("class:song.rb#Music.Song", "class:media.rb#Music.Playable")
    }
    assert project.calls_of("method:song.rb#Music.Song.start") == {
        "method:media.rb#Music.Playable.play",
        "method:media.rb#Music.Media.prepare",
        "method:player.rb#Music.Player.run",
        "class:player.rb#Music.Player",
    }


def test_in_ruby_a_call_does_not_mean_a_method_of_the_outer_module() -> None:
    text = "class Song\n  def play(x)\n  end\n  module Parts\n    def start\n      play(1)\n    end\n  end\nend\n"
    project = resolved({"song.rb": text})
    assert project.links() == set()


def test_c_follows_functions_that_are_defined_once() -> None:
    project = resolved(
        {
            "tools.h": "void helper(int x);\nint twice(int x);\n",
            "tools.c": '#include "tools.h"\nstatic void own(void) {\n}\nvoid helper(int x) {\n  own();\n}\n',
            "unix.c": "int twice(int x) {\n  return 1;\n}\n",
            "win.c": "int twice(int x) {\n  return 2;\n}\n",
            "main.c": '#include "tools.h"\nint main(void) {\n  helper(1);\n  twice(2);\n  own();\n  printf("x");\n}\n',
        }
    )
    assert project.calls_of("function:tools.c#helper") == {"function:tools.c#own"}
    assert project.calls_of("function:main.c#main") == {"function:tools.c#helper"}
    assert project.reasons("function:main.c#main") == {
        "twice": "several functions are named twice",
        "own": "not in this project",
        "printf": "not in this project",
    }


def test_cpp_methods_that_are_defined_outside_of_their_class_belong_to_it() -> None:
    project = resolved(
        {
            "song.hpp": (
                "class Player {\npublic:\n  void start() { }\n};\nclass Song {\npublic:\n  void "
                "play();\n  Player player;\n};\n"
            ),
            "song.cpp": '#include "song.hpp"\nvoid Song::play() {\n  player.start();\n  this->play();\n}\n',
        }
    )
    assert project.calls_of("method:song.cpp#Song.play") >= {"method:song.hpp#Player.start"}


def test_swift_follows_properties_extensions_and_created_instances() -> None:
    project = resolved(
        {
            "Song.swift": """
                protocol Playable {}
                class Media { func prepare() {} }
                class Song: Media, Playable {
                    let player: Player
                    init(player: Player) { self.player = player }
                    func play(other: Song?, any: [Song]) {
                        player.start()
                        self.player.start()
                        prepare()
                        other?.stop()
                        any.stop()
                    }
                }
                """,
            "More.swift": "extension Song { func stop() {} }\nstruct Player { func start() {} }\n",
        }
    )
    assert project.links("EXTENDS") == {("class:Song.swift#Song", "class:Song.swift#Media")}
    assert project.links("IMPLEMENTS") == {
        ("class:Song.swift#Song", "class:Song.swift#Playable")
    }
    assert project.calls_of("method:Song.swift#Song.play") == {
        "method:More.swift#Player.start",
        "method:Song.swift#Media.prepare",
        "method:More.swift#Song.stop",
    }


def test_a_method_that_several_files_define_for_one_type_is_not_linked() -> None:
    project = resolved(
        {
            "A.swift": (
                "class Song { func play() {} \n func stop() {} }\nfunc go(song: Song) { song.play(); song.stop() }\n"
            ),
            "B.swift": "extension Song { func play(loud: Int) {} }\n",
        }
    )
    assert project.calls_of("function:A.swift#go") == {"method:A.swift#Song.stop"}
    assert project.reasons("function:A.swift#go") == {
        "song play": "several files define play of Song"
    }


def test_methods_with_the_same_name_in_unrelated_classes_are_not_linked() -> None:
    project = resolved(
        {
            "a.go": (
                "package a\n\ntype Song struct{}\nfunc (s Song) Play() {}\ntype Game struct{}\nfunc "
                "(g Game) Play() {}\nfunc start(it any) { it.Play() }\n"
            ),
            "a.rb": "class Song\n  def play\n  end\nend\nclass Game\n  def start(it)\n    it.play\n  end\nend\n",
            "A.java": (
                "class Song { void play() {} } class Game { void play() {} } class T { void go(Object "
                "it) { it.play(); } }\n"
            ),
            "A.kt": (
                "class Song {\n  fun play() {}\n}\nclass Game {\n  fun play() {}\n}\nfun go(it: Any) "
                "{\n  it.play()\n}\n"
            ),
            "A.cs": (
                "class Song { void Play() {} } class Game { void Play() {} } class T { void "
                "Go(dynamic it) { it.Play(); } }\n"
            ),
        }
    )
    assert project.links() == set()
    assert {row.uri for row in project.graph.unresolved} == {
        "a.go",
        "a.rb",
        "A.java",
        "A.kt",
        "A.cs",
    }


def test_in_swift_a_name_that_a_loop_closure_or_condition_redefines_has_no_type() -> None:
    forms = {
        "loop": "for a in list { a.save() }",
        "closure": "list.forEach { a in a.save() }",
        "condition": "if let a = make() { a.save() }",
        "guard": "guard let a = make() else { return }\n        a.save()",
        "assignment": "a = make()\n        a.save()",
        "pattern": "switch list { case .one(let a): a.save() }",
        "plain": "a.save()",
    }
    body = "".join(
        f"    func {name}(a: A) {{\n        {text}\n    }}\n" for name, text in forms.items()
    )
    project = resolved(
        {"x.swift": f"class A {{\n    func save() {{}}\n}}\nclass C {{\n{body}}}\n"}
    )
    assert project.links() == {("method:x.swift#C.plain", "method:x.swift#A.save")}
