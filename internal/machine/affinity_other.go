//go:build !linux

package machine

// startPinned returns ErrNoAffinity and does not call start.
func startPinned([]int, func() error) error { return ErrNoAffinity }
