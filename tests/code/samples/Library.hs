{-# LANGUAGE OverloadedStrings #-}
-- | Keeps tracks in order.
module Music.Library (Library, add) where

import qualified Data.Map as Map
import Data.Text (Text)

data Loudness = Quiet | Loud
  deriving (Eq, Show)

newtype Library = Library [Track]

type Title = Text

-- | Things that can be played.
class Playable a where
  play :: a -> Loudness -> Bool

data Track = Track { title :: Title, album :: Text }

instance Playable Track where
  play _ loudness = loudness == Loud

-- | Add a track, unless it is there.
add :: Track -> Library -> Library
add track (Library tracks)
  | track `elem` tracks = Library tracks
  | otherwise = Library (track : tracks)

empty = Library []
