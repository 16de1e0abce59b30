// Package library keeps tracks.
package library

import (
	"context"
	"fmt"
	log "github.com/example/logging/v2"
	. "strings"
	_ "embed"
)

// MaxTracks is the most that a library holds.
const MaxTracks = 500

const (
	quiet = iota
	loud
)

var (
	// ErrFull says that nothing more fits.
	ErrFull = fmt.Errorf("full")
	defaultStore *Store
)

// Playable makes a sound.
type Playable interface {
	Play(ctx context.Context, loudness int) error
	fmt.Stringer
}

// Track is one piece of music.
type Track struct {
	Title string
	album *Album
	Base
}

type Seconds int
type Tracks = []Track

// Store holds tracks
// of one kind.
type Store[T any] struct {
	tracks map[string]T
	next   *Store[T]
	logger *log.Logger
}

// NewStore makes an empty one.
func NewStore[T any](logger *log.Logger) *Store[T] {
	store := &Store[T]{logger: logger}
	return store
}

// Add puts a track in.
func (s *Store[T]) Add(ctx context.Context, title string, track T) (count int, err error) {
	if len(s.tracks) >= MaxTracks {
		s.logger.Print("full")
		return 0, ErrFull
	}
	var twin Track
	twin.Play(ctx, loud)
	s.tracks[title] = track
	return len(s.tracks), nil
}

func (t Track) Play(ctx context.Context, loudness int) error {
	player := Player{Track: t}
	return player.start(func() { fmt.Println(ToUpper(t.Title)) })
}

func helper(a, b int, rest ...string) {}
