package machine

import "errors"

// ErrNoAffinity is the error on systems that cannot restrict a process to some processors.
var ErrNoAffinity = errors.New("this system cannot tie a process to processors")

// Pinned calls start, which starts a process. That process may use only the processors cpus. The
// processors of the calling process do not change.
func Pinned(cpus []int, start func() error) error { return startPinned(cpus, start) }
