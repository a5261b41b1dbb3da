// Package stats turns per-round effects into estimates and intervals.
//
// It is pure arithmetic: no clock, no randomness, no files. Effects are natural logarithms of a
// ratio unless stated otherwise, so a difference of 0.05 is about 5 %. Rounds are the unit of
// inference: one number per round, never one per iteration.
//
// The estimate is the Hodges–Lehmann pseudo-median ([HodgesLehmann]); its
// interval comes from the ordered Walsh averages under the exact signed-rank
// null ([Interval]). A study looks at its rounds several times ([Looks]) and
// pays for it with a stricter level per look ([LookLevel]).
//
// Inputs must be finite; no function changes the slices it is given.
package stats
