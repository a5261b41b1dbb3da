//go:build !linux || (!amd64 && !arm64)

package load

import "fmt"

// newLoop returns an error: on this system there is no engine that waits with epoll. See loop_linux.go for the engine.
func newLoop(*settings) (engine, error) {
	return nil, fmt.Errorf("engine %s needs Linux on amd64 or arm64: leave the engine out, or use %s", Epoll, Portable)
}
