//go:build !linux || (!amd64 && !arm64)

package load

import "fmt"

// newLoop returns an error: the engine with epoll needs Linux.
func newLoop(*settings) (engine, error) {
	return nil, fmt.Errorf("engine %s needs Linux on amd64 or arm64: leave the engine out, or use %s", Epoll, Portable)
}
