// Package oneside has a benchmark that listens on a fixed port. TestStrangers then makes a commit in which
// another file replaces this one, so that the benchmark of that commit listens on any free port.
package oneside

const address = "127.0.0.1:17945"
