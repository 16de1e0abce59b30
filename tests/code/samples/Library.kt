package com.example.music

import com.example.audio.Output
import com.example.audio.Speaker as Box
import com.example.limits.*

const val MAX_TRACKS = 500
typealias Tracks = List<Track>

/** Makes a sound. */
interface Playable : Comparable<Playable> {
    val title: String
    fun play(loudness: Loudness): Boolean
}

/** How loud. */
enum class Loudness(val level: Int) {
    QUIET(1),
    LOUD(2);

    fun louder(): Loudness = LOUD
}

/** One track. */
data class Track(val title: String, private val album: Album?)

/**
 * Keeps tracks.
 */
@Singleton
open class Library @Inject constructor(
    private val repository: TrackRepository,
    name: String,
) : Base(name), Playable {
    override val title: String = name
    private lateinit var speaker: Box
    val size get() = repository.count()

    init {
        repository.open()
    }

    constructor(name: String) : this(TrackRepository(), name)

    // Plays what is next.
    @Throws(IOException::class)
    override fun play(loudness: Loudness): Boolean {
        val track = repository.next() ?: return false
        val output = Output(loudness)
        output.send(track)
        speaker.open()
        this.repository.close()
        return listOf(track).any { it.title == title }
    }

    companion object {
        const val KIND = "library"

        fun create(): Library = Library("new")
    }

    inner class Cursor(val at: Int)
}

object Registry : Lookup {
    fun find(name: String): Library? = null
}

fun Track.isLong(limit: Int = MAX_TRACKS): Boolean = title.length > limit

suspend fun <T : Any> helper(block: () -> T): T = block()
