<?php

declare(strict_types=1);

namespace App\Music;

use App\Audio\Output as Speaker;
use App\Store\{TrackRepository, AlbumRepository as Albums};
use function App\helper;

/**
 * Makes a sound.
 */
interface Playable extends \Stringable
{
    public function play(Loudness $loudness): bool;
}

/** How loud. */
enum Loudness: int implements HasLabel
{
    case Quiet = 1;
    case Loud = 2;

    public function label(): string
    {
        return $this->name;
    }
}

trait Shuffles
{
    abstract protected function tracks(): array;
}

/**
 * Keeps tracks.
 *
 * @author nobody
 */
#[Entity]
final class Library extends Model implements Playable
{
    use Shuffles, SoftDeletes;

    public const MAX_TRACKS = 500;

    protected ?Speaker $speaker = null;

    public function __construct(private readonly TrackRepository $tracks, Albums $albums)
    {
        $this->albums = $albums;
        parent::__construct();
    }

    /** Plays what is next. */
    #[Pure]
    public function play(Loudness $loudness): bool
    {
        $player = new Player($loudness);
        $player->start($this->tracks->next());
        self::check(3);

        return helper($player) && Library::query()->exists();
    }

    private static function check(int $at): bool
    {
        return $at < static::MAX_TRACKS;
    }
}

function shuffled(array $tracks, int $seed = 0): array
{
    return array_map(fn (Track $track) => $track->title(), $tracks);
}
