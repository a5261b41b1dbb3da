//go:build !windows && (!unix || solaris || aix)

package machine

import (
	"errors"
	"os"
)

func tryLock(string) (*os.File, error) {
	return nil, errors.New("locking is not supported on this system")
}
