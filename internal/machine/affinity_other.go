//go:build !linux

package machine

func pinned([]int, func() error) error { return ErrNoAffinity }
