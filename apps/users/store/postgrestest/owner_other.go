//go:build !linux

package postgrestest

import (
	"errors"
	"os"
	"syscall"
)

// owner is always the current user on this system.
type owner struct{}

// unprivilegedOwner returns the current user. It rejects root, as which PostgreSQL does not run.
func unprivilegedOwner() (owner, error) {
	if os.Geteuid() == 0 {
		return owner{}, errors.New("PostgreSQL does not run as root")
	}
	return owner{}, nil
}

func (owner) chownFile(string) error { return nil }

func (owner) procAttr() *syscall.SysProcAttr { return nil }
