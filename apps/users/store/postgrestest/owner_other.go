//go:build !linux

package postgrestest

import (
	"errors"
	"os"
	"syscall"
)

// owner is the user that the server runs as: on this system always the current one.
type owner struct{}

// unprivilegedOwner returns the current user, or an error for root, as which PostgreSQL does not run.
func unprivilegedOwner() (owner, error) {
	if os.Geteuid() == 0 {
		return owner{}, errors.New("PostgreSQL does not run as root")
	}
	return owner{}, nil
}

// chownFile does nothing: the current user owns the file.
func (owner) chownFile(string) error { return nil }

// procAttr returns nil: the server runs as the current user.
func (owner) procAttr() *syscall.SysProcAttr { return nil }
