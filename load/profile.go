package load

import (
	"time"

	"github.com/tarebench/tare/load/pace"
)

// Bounds of what a command may ask for: nothing loads a server for ever, or as
// fast as it can by mistake.
const (
	MaxRate     = pace.MaxRate // requests per second
	MaxDuration = time.Hour
)

// Profile is the intended rate of an open loop over time.
type Profile = pace.Profile

// Constant is a request every 1/PerSecond seconds.
type Constant = pace.Constant

// Poisson is requests that come independently of each other.
type Poisson = pace.Poisson

// Ramp is a rate that changes evenly.
type Ramp = pace.Ramp

// Step is one rate after another.
type Step = pace.Step

// ProfileError is the error of an invalid profile, with examples of valid ones.
type ProfileError = pace.Error

// ParseProfile reads a rate over time as flags write it, for a phase of length
// over: see [pace.Parse].
func ParseProfile(text string, over time.Duration) (Profile, error) { return pace.Parse(text, over) }
