// Package oneside has a benchmark that listens on a port, which is fixed in the first commit only. The
// second commit replaces this file, so that any port will do.
package oneside

const address = "127.0.0.1:17945"
