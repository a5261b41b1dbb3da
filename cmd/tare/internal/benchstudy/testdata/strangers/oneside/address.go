// Package oneside listens on a fixed port in the first commit only.
package oneside

const address = "127.0.0.1:17945"
