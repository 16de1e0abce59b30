local repository = require("music.repository")

--- Keeps tracks in order.
local Library = {}
Library.__index = Library

Library.defaults = {
  max_tracks = 1000,
}

function Library.new()
  return setmetatable({ tracks = {} }, Library)
end

--- Add a track, unless it is there.
function Library:add(track)
  if not self:knows(track) then
    table.insert(self.tracks, track)
    repository.store(track)
  end
end

Library.knows = function(self, track)
  return vim.tbl_contains(self.tracks, track)
end

local function shuffle(tracks)
  return tracks
end

local play = function(track)
  shuffle({ track })
end

return Library
