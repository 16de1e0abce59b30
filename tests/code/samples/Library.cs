using System;
using System.Collections.Generic;
using Audio = Example.Audio.Output;
using static System.Math;

namespace Example.Music
{
    /// <summary>How loud.</summary>
    public enum Loudness { Quiet = 1, Loud }

    /// <summary>Makes a sound.</summary>
    public interface IPlayable : IDisposable
    {
        string Title { get; }
        bool Play(Loudness loudness);
    }

    public delegate void Played(Track track);

    public record Track(string Title, Album Album);

    public struct Point
    {
        public int X;
    }

    /// <summary>
    /// Keeps tracks.
    /// </summary>
    [Serializable]
    [Table("libraries")]
    public abstract partial class Library<T> : Base, IPlayable where T : Track
    {
        public const int MaxTracks = 500;
        private readonly TrackRepository _repository;
        protected List<T> tracks = new();

        public event Played OnPlayed;

        // Made by the container.
        public Library(TrackRepository repository, string name) : base(name)
        {
            _repository = repository;
            Title = name;
        }

        public string Title { get; private set; }

        public T this[int index] => tracks[index];

        /// <summary>Plays.</summary>
        [HttpPost("play")]
        public async Task<bool> Play(Loudness loudness)
        {
            var player = new Player(loudness);
            Track track = await _repository.NextAsync();
            player.Start(track);
            this._repository.Close();
            OnPlayed?.Invoke(track);
            return Limits.Check(Max(1, 2));
        }

        bool IPlayable.Play(Loudness loudness) => false;

        public static Library<T> operator +(Library<T> a, T b) => a;

        ~Library() { }

        public class Player
        {
            public Player(Loudness loudness) { }
            public void Start(Track track) { int Local(int x) => x; Local(1); }
        }
    }
}
