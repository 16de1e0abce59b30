import type { Album } from './album'
import { Track, Store as TrackStore } from '../track'
import * as fs from 'fs'
import config = require('./config')

/** The most tracks a library holds. */
export const MAX_TRACKS: number = 500

/** How loud. */
export enum Loudness {
  Quiet = 1,
  Loud,
}

/** Makes a sound. */
export interface Playable extends Disposable, Named<string> {
  readonly title: string
  play(loudness: Loudness): boolean
}

export type Tracks = Array<Track>

/**
 * Keeps tracks.
 */
@Injectable({ scope: 'root' })
export abstract class Library<T extends Track> extends Base<T> implements Playable {
  static readonly kind = 'library'
  private tracks: Tracks = []
  readonly title!: string

  constructor(private readonly store: TrackStore, name: string) {
    super(name)
    this.title = name
  }

  get size(): number {
    return this.tracks.length
  }

  /** Adds one. */
  @Post('add')
  async add(track: T, position?: number): Promise<boolean> {
    const player = new Player(track)
    const output: Output = make()
    player.start(output)
    this.store.save(track)
    return Library.check(position ?? 0)
  }

  abstract play(loudness: Loudness): boolean

  static check(position: number): boolean {
    return position < MAX_TRACKS
  }
}

// Shuffles.
export function shuffled<T>(tracks: T[], seed: number = 0): T[] {
  return tracks
}

export function shuffled2(tracks: Track[]): void
export const sorted = async (tracks: Tracks): Promise<Tracks> => tracks.sort()

declare module 'music' {
  export function helper(name: string): void
}

namespace Inner {
  export class Cursor {}
}

export default function main(): void {
  shuffled<Track>([])
}
