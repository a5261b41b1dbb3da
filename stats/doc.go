// Package stats turns ratios of measurements into estimates and intervals.
//
// It is pure arithmetic: no clock, no randomness, no files. A study measures its contenders in
// rounds. Each round gives one number, usually the natural logarithm of a ratio of two contenders.
// So a difference of 0.05 is about 5 %.
//
// The estimate is the Hodges–Lehmann pseudo-median ([HodgesLehmann]). The ends of its interval are
// ordered Walsh averages, chosen by the exact signed-rank distribution ([Interval]). A study may
// stop at several looks, interim analyses of its data ([Looks]). So each look has a stricter level
// ([LookLevel]).
//
// Inputs must be finite. No function changes its input slices.
package stats
