// Package machine describes the computer that measures: its facts, how it reports its noise, and
// which process may measure on it now.
//
// A measurement works without this package. Facts that a machine does not provide are reported as
// not found or not recorded, never guessed.
package machine
