const std = @import("std");
const Repository = @import("repository.zig");

pub const max_tracks = 1000;

/// How loud a track is played.
pub const Loudness = enum { quiet, loud };

/// Keeps tracks in order.
pub const Library = struct {
    tracks: std.ArrayList(Track),

    pub fn init(allocator: std.mem.Allocator) Library {
        return .{ .tracks = std.ArrayList(Track).init(allocator) };
    }

    /// Add a track, unless it is there.
    pub fn add(self: *Library, track: Track) !void {
        try self.tracks.append(track);
        Repository.store(track);
    }
};

const Track = struct { title: []const u8 };

fn shuffle(tracks: []Track) void {
    _ = tracks;
}

test "a library starts empty" {
    shuffle(&.{});
}
