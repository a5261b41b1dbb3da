//go:build !unix || solaris || aix

package machine

import "errors"

// tryLockHost returns errors.ErrUnsupported.
func tryLockHost(string) (func(), error) { return nil, errors.ErrUnsupported }

// hostHolder returns unknownHolder.
func hostHolder(string) string { return unknownHolder }
