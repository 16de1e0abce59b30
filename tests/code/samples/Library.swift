import Foundation
import struct Combine.Just

/// How loud a track is played.
enum Loudness: Int, CaseIterable {
    case quiet = 1
    case loud, deafening

    var label: String { return "\(self)" }
}

/// Anything that makes a sound.
protocol Playable: AnyObject {
    var title: String { get }
    func play(at loudness: Loudness) throws -> Bool
}

let maximumTracks = 500

/// One track.
/// It knows its album.
struct Track: Codable, Hashable {
    let title: String
    private(set) var album: Album?
    static let untitled = Track(title: "?", album: nil)

    init(title: String, album: Album?) {
        self.title = title
        self.album = album
    }
}

@objc
open class Player: NSObject, Playable {
    let title: String
    private let store: TrackStore
    weak var delegate: PlayerDelegate?

    public init(title: String, store: TrackStore) {
        self.title = title
        self.store = store
        super.init()
    }

    deinit { store.close() }

    /// Plays what is next.
    @discardableResult
    func play(at loudness: Loudness) throws -> Bool {
        guard let track = store.next() else { return false }
        let output = Output(loudness: loudness)
        output.send(track)
        delegate?.playerDidStart(self)
        return true
    }

    subscript(index: Int) -> Track { return store.tracks[index] }

    class Output {
        func send(_ track: Track) {}
        init(loudness: Loudness) {}
    }
}

extension Player: CustomStringConvertible {
    var description: String { return title }

    func rewind() { store.seek(to: 0) }
}

typealias Tracks = [Track]

func shuffled<T: Sequence>(_ tracks: T, using seed: Int = 0) -> [T.Element] where T.Element == Track {
    return tracks.sorted { $0.title < $1.title }
}
