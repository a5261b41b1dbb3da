// Package archtest reads the repository's own source, all modules of it, and
// reports where it breaks the rules it is built by: who may import whom, which
// modules may require what, and what no file may contain. It parses imports
// itself, so it sees every operating system's files and needs no build.
//
// A new package must be listed in [places] with its layer before the test
// passes again: that is the moment to think about where it belongs.
package archtest
