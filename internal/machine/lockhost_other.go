//go:build !unix || solaris || aix

package machine

import "errors"

// tryLockHost returns an error: this system has no lock for all users.
func tryLockHost(string) (func(), error) { return nil, errors.ErrUnsupported }

// hostHolder is not called, because tryLockHost never returns errLocked.
func hostHolder(string) string { return unknownHolder }
