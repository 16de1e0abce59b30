#!/usr/bin/env bash
# Keeps tracks in order.
source ./repository.sh

MAX_TRACKS=1000
readonly LIBRARY_FILE="$HOME/tracks"

# Add a track, unless it is there.
add_track() {
  local track="$1"
  if ! knows_track "$track"; then
    store_track "$track"
  fi
}

function knows_track {
  grep -q "$1" "$LIBRARY_FILE"
}

add_track "$@"
