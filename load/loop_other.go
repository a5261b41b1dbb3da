//go:build !linux || (!amd64 && !arm64)

package load

import "fmt"

// newLoop starts the threads, which wait for a phase. It raises GOMAXPROCS to one more than the number of
// threads if it is lower: without a spare processor the Go scheduler takes that of each waiting thread, which
// made a request a fifth more expensive with one thread.
func newLoop(*settings) (engine, error) {
	return nil, fmt.Errorf("engine %s needs Linux on amd64 or arm64: leave the engine out, or use %s", Epoll, Portable)
}
