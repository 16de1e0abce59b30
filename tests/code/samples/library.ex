defmodule Music.Library do
  @moduledoc "Keeps tracks in order."

  alias Music.Repository
  use GenServer

  defstruct tracks: [], repository: nil

  defmodule Track do
    defstruct [:title, :album]
  end

  # Tracks that are already there are left out.
  @doc "Add a track."
  @spec add(t(), Track.t()) :: t()
  def add(library, track) when is_map(track) do
    Repository.store(track)
    %{library | tracks: [track | library.tracks]}
  end

  def empty, do: %__MODULE__{}

  defp known?(library, track), do: track in library.tracks

  defmacro deftrack(name) do
    quote do
      unquote(name)
    end
  end
end

defprotocol Music.Playable do
  def play(item, loudness)
end
