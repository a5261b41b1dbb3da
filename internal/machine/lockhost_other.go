//go:build !unix || solaris || aix

package machine

import "errors"

// tryLockHost fails: this system has no lock for all users.
func tryLockHost(string) (func(), error) { return nil, errors.ErrUnsupported }

// hostHolder is never called, because tryLockHost never returns errLocked.
func hostHolder(string) string { return unknownHolder }
