//go:build !linux

package machine

func startPinned([]int, func() error) error { return ErrNoAffinity }
