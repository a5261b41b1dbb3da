// Package stats turns per-round effects into estimates and intervals.
//
// It is pure arithmetic: no clock, no randomness, no files. A study measures its contenders in rounds. An
// effect is a natural logarithm of a ratio of two contenders unless stated otherwise, so a difference of
// 0.05 is about 5 %. Rounds are the unit of inference: one number per round, never one per iteration.
//
// The estimate is the Hodges–Lehmann pseudo-median ([HodgesLehmann]). The ends of its interval are ordered
// Walsh averages, which the exact null distribution of the signed-rank test selects ([Interval]). A study
// may stop at several looks, interim analyses of its data ([Looks]), so each look has a stricter level
// ([LookLevel]).
//
// Inputs must be finite. No function changes its input slices.
package stats
