# frozen_string_literal: true

require "json"
require_relative "track"

# Everything about music.
module Music
  MAX_TRACKS = 500

  # Makes a sound.
  module Playable
    def play(loudness = :quiet)
      raise NotImplementedError
    end
  end

  # Keeps tracks.
  class Library < Base::Collection
    include Playable
    extend Forwardable

    DEFAULT = new

    attr_reader :name, :tracks
    attr_accessor :store

    # @param name [String]
    def initialize(name, store: Store.new)
      @name = name
      @store = store
      @player = Player.new(name)
      super()
    end

    # Adds one.
    def add(track, *rest, &block)
      player = Audio::Player.new
      player.start(track)
      @store.save(track)
      return false if tracks.size >= MAX_TRACKS

      track.play(:loud)
      self.class.create(track)
    end

    def self.create(name)
      new(name)
    end

    class << self
      def default
        @default ||= DEFAULT
      end
    end

    def ==(other) = name == other.name

    def empty?
      tracks.empty?
    end

    private

    def helper(list)
      list.each { |one| puts one }
    end

    class Full < StandardError; end
  end
end

def top_level
  Music::Library.create("x").add 1
end
