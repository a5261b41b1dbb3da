//go:build !windows && (!unix || solaris || aix)

package machine

import (
	"errors"
	"os"
)

// tryLock returns an error.
func tryLock(string) (*os.File, error) {
	return nil, errors.New("locking is not supported on this system")
}
