//go:build !linux

package postgrestest

import (
	"errors"
	"os"
	"syscall"
)

// owner is whom the server runs as: whoever asks.
type owner struct{}

// unprivileged refuses root, as PostgreSQL would.
func unprivileged() (owner, error) {
	if os.Geteuid() == 0 {
		return owner{}, errors.New("PostgreSQL refuses to run as root")
	}
	return owner{}, nil
}

func (owner) own(string) error { return nil }

func (owner) attributes() *syscall.SysProcAttr { return nil }
