import React, { useState } from 'react'
import type { Track } from './track'

/** What a player is given. */
interface Props {
  track: Track
  onPlay?: (track: Track) => void
}

/** Shows a track. */
export function Player({ track, onPlay }: Props): JSX.Element {
  const [playing, setPlaying] = useState<boolean>(false)

  const start = () => {
    setPlaying(true)
    onPlay?.(track)
  }

  return (
    <section className="player">
      <Title text={track.title} />
      <button onClick={start}>{playing ? 'Stop' : 'Play'}</button>
    </section>
  )
}

/** A title. */
const Title: React.FC<{ text: string }> = ({ text }) => <h1>{text}</h1>

export class Boundary extends React.Component<Props, State> {
  state: State = { failed: false }

  componentDidCatch(error: Error): void {
    report(error)
  }

  render() {
    return this.state.failed ? <p>Failed</p> : this.props.children
  }
}

export default React.memo(Player)
