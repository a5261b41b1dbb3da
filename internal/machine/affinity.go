package machine

import "errors"

// ErrNoAffinity is the error on systems that cannot restrict a process to some processors.
var ErrNoAffinity = errors.New("this system cannot tie a process to processors")

// Pinned calls start in such a way that a process which start starts may use only cpus. The processors
// of this process do not change.
func Pinned(cpus []int, start func() error) error { return startPinned(cpus, start) }
