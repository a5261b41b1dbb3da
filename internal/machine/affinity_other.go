//go:build !linux

package machine

// startPinned returns ErrNoAffinity.
func startPinned([]int, func() error) error { return ErrNoAffinity }
