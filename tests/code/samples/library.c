#include <stdio.h>
#include "track.h"

#define MAX_TRACKS 500
#define LOUDER(x) ((x) + 1)

/* How loud a track is played. */
enum loudness {
    QUIET = 1,
    LOUD,
};

/**
 * One track.
 */
struct track {
    char title[64];
    struct album *album;
    unsigned int seconds;
};

typedef struct library {
    struct track *tracks;
    int count;
} library_t;

typedef int (*player_fn)(struct track *track, int loudness);

union value { int number; float real; };

static const char *greeting = "hello";
extern int shared_count;

int library_count(const library_t *library);

/* Adds a track.
 * Returns the new count. */
static int
library_add(library_t *library, struct track *track, player_fn play)
{
    struct track *last = &library->tracks[library->count];
    *last = *track;
    play(track, LOUD);
    if (library->count >= MAX_TRACKS) {
        fprintf(stderr, "full\n");
        return -1;
    }
    library->count++;
    return library->count;
}

struct track *library_last(library_t *library) {
    return &library->tracks[library->count - 1];
}

#ifdef DEBUG
void library_dump(void) {
    printf("%d\n", shared_count);
}
#endif

int main(int argc, char **argv)
{
    library_t library = { 0 };
    return library_count(&library);
}
