package machine

import "errors"

// ErrNoAffinity is returned where processes cannot be tied to processors.
var ErrNoAffinity = errors.New("this system cannot tie a process to processors")

// Pinned calls start so that a process started by it may use only cpus. The
// calling thread is given back its own processors afterwards.
func Pinned(cpus []int, start func() error) error { return startPinned(cpus, start) }
