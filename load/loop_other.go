//go:build !linux || (!amd64 && !arm64)

package load

import "fmt"

func newLoop(_ *settings, kind Engine) (engine, error) {
	return nil, fmt.Errorf("engine %s needs Linux on amd64 or arm64: leave the engine out, or use %s", kind, Portable)
}
