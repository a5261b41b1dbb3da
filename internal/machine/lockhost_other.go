//go:build !unix || solaris || aix

package machine

import "errors"

func tryLockHost(string) (func(), error) { return nil, errors.ErrUnsupported }

func hostHolder(string) string { return unknownHolder }
