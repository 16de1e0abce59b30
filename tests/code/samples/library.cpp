#include <string>
#include "track.hpp"

#define LIBRARY_VERSION 2

namespace music {

using Tracks = std::vector<Track>;
typedef std::string Title;

/// How loud.
enum class Loudness { Quiet = 1, Loud };

constexpr int kMaxTracks = 500;

/// Makes a sound.
class Playable {
public:
    virtual ~Playable() = default;
    virtual bool play(Loudness loudness) = 0;
};

/**
 * Keeps tracks.
 */
template <typename T, int N = 4>
class Library final : public Playable, private Base<T> {
public:
    explicit Library(std::string name) : name_(std::move(name)) {}
    ~Library();

    /// Adds one.
    bool add(const Track& track, int position = 0) {
        Player player;
        player.start(track);
        this->repository_->save(track);
        auto *other = new Player(track);
        return Limits::check(position);
    }

    bool play(Loudness loudness) override;
    bool operator==(const Library& other) const { return name_ == other.name_; }
    static int count();

    struct Cursor { int at; };

private:
    std::string name_;
    TrackRepository *repository_ = nullptr;
    int sizes_[3];
};

template <typename T, int N>
bool Library<T, N>::play(Loudness loudness) {
    return helper(loudness);
}

namespace detail {
/* Helps. */
inline int helper(Loudness loudness) noexcept { return static_cast<int>(loudness); }
}  // namespace detail

struct Point : Shape {
    double x, y;
    Point() = default;
};

}  // namespace music

int music::detail::Counter::next(int by) { return by; }

music::Track *make_track() { return new music::Track(); }

int main() { return music::kMaxTracks; }
