package load

import (
	"time"

	"github.com/tarebench/tare/load/pace"
)

// Bounds of rates and durations protect servers from mistakes.
const (
	MaxRate     = pace.MaxRate // requests per second
	MaxDuration = time.Hour
)

// Profile is the intended rate of an open loop over time.
type Profile = pace.Profile

// Constant is a constant rate: a request every 1/PerSecond seconds.
type Constant = pace.Constant

// Poisson is a rate of requests at random, independent times.
type Poisson = pace.Poisson

// Ramp is a rate that changes linearly.
type Ramp = pace.Ramp

// Step is a sequence of rates.
type Step = pace.Step

// ProfileError is the error of an invalid profile, with examples of valid ones.
type ProfileError = pace.Error

// ParseProfile parses a profile for a phase of length over. See [pace.Parse].
func ParseProfile(text string, over time.Duration) (Profile, error) { return pace.Parse(text, over) }
