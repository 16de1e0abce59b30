package com.example.music;

import java.util.List;
import java.util.concurrent.*;
import static com.example.music.Limits.MAX;

/**
 * Keeps tracks.
 *
 * @since 1
 */
@Entity
@Table(name = "libraries")
public abstract class Library<T extends Track> extends Base implements Playable, Closeable {
    /** The most it holds. */
    public static final int MAX_TRACKS = 500, MIN_TRACKS = 0;

    private final TrackRepository repository;
    protected List<T> tracks;

    // Made by the container.
    @Inject
    public Library(TrackRepository repository) {
        super("library");
        this.repository = repository;
    }

    /**
     * Adds a track.
     */
    @Override
    @Transactional
    public synchronized <R> boolean add(T track, int position)
            throws IOException {
        Player player = new Player(track);
        player.play(Loudness.LOUD);
        this.repository.save(track);
        repository.flush();
        Runnable later = () -> tracks.clear();
        return Limits.check(position);
    }

    abstract void close();

    static class Player {
        void play(Loudness loudness) {}
    }

    /** How loud. */
    enum Loudness {
        QUIET(1), LOUD(2);

        private final int level;

        Loudness(int level) { this.level = level; }
    }
}

interface Playable extends Comparable<Playable> {
    int LIMIT = 3;

    void play();
}

record Point(int x, Track track) implements Shape {
    double length() { return Math.sqrt(x); }
}

@interface Inject {
    String value() default "";
}
