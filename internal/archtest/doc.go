// Package archtest reads the repository's own source, all modules of it, and reports where it
// breaks the rules that no linter of .golangci.yml has: which packages may import which, which
// modules may require which, what a contender's folder contains. It parses imports itself, so it
// sees every operating system's files and needs no build.
//
// A new package must be listed in [layerEntries] with its layer before the test passes again: that
// is the moment to think about where it belongs.
package archtest
