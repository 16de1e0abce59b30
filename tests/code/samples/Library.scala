package music.library

import scala.collection.mutable.ListBuffer

/** How loud a track is played. */
enum Loudness {
  case Quiet, Loud
}

trait Playable {
  def title: String
  def play(loudness: Loudness): Boolean
}

case class Track(title: String, album: String) extends Playable {
  override def play(loudness: Loudness): Boolean = loudness == Loudness.Loud
}

/** Keeps tracks in order. */
class Library(repository: Repository) {
  type Tracks = List[Track]
  private val tracks = ListBuffer.empty[Track]

  /** Add a track, unless it is there. */
  def add(track: Track): Unit = {
    if (!tracks.contains(track)) {
      tracks += track
      repository.store(track)
    }
  }
}

object Library {
  val MaxTracks = 1000

  def empty: Library = new Library(Repository.inMemory())
}

def shuffle(tracks: List[Track]): List[Track] = scala.util.Random.shuffle(tracks)
