//go:build !linux

package machine

func pinned([]int, func() error) error { return ErrNoAffinity }

func allowed() ([]int, error) { return nil, ErrNoAffinity }
