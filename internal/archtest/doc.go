// Package archtest reads the repository's own source, all modules of it, and
// reports where it breaks the rules that no linter of .golangci.yml has: who may
// import whom, which modules may require what, what a contender's folder holds. It
// parses imports itself, so it sees every operating system's files and needs no build.
//
// A new package must be listed in [places] with its layer before the test
// passes again: that is the moment to think about where it belongs.
package archtest
