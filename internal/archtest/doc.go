// Package archtest reads the source of all modules of the repository and reports violations of
// rules that no linter of .golangci.yml has: which packages may import which, which modules may
// require which, and what a contender's folder contains. It parses imports itself, so it sees the
// files for every operating system and needs no build.
//
// A new package must be listed in [layerEntries] with its layer, so that its author decides where it
// belongs.
package archtest
