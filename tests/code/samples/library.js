'use strict'

import fs, { readFile as read, writeFile } from 'node:fs'
import * as path from 'node:path'
const Track = require('./track')
const { Album, Disc: Record } = require('./album')

/** The most tracks a library holds. */
const MAX_TRACKS = 500
let counter = 0

/**
 * Keeps tracks.
 */
export default class Library extends Base {
  static kind = 'library'
  #secret = 1
  tracks = new TrackList()

  constructor(name, store) {
    super(name)
    this.store = store
    this.player = new Player(name)
  }

  get size() {
    return this.tracks.length
  }

  /** Adds one. */
  async add(track, { position = 0 } = {}) {
    const output = new Output(position)
    output.send(track)
    this.player.start(track)
    await read('x', (error) => { handle(error) })
    return Library.check(position)
  }

  static check(position) {
    return position < MAX_TRACKS
  }

  handler = (event) => {
    this.add(event.track)
  }
}

// Shuffles.
export function shuffled(tracks, seed = 0) {
  function swap(a, b) {
    return [b, a]
  }
  return tracks.map((track) => swap(track, seed))
}

export const sorted = (tracks) => tracks.sort()

const compare = function (a, b) {
  return a.title < b.title
}

var app = exports = module.exports = {}

/**
 * Uses a plug-in.
 */
app.use = function use(plugin) {
  return plugin(this)
}

Library.prototype.rewind = function () {
  this.at = 0
}

exports.helper = () => counter++

function* ids() {
  yield counter
}

const View = () => <Player title="x" onPlay={() => shuffled([])} />
