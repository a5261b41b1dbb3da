//go:build !linux

package trial

import (
	"errors"
	"os"
)

// openTerminal is supported on Linux only.
func openTerminal() (ours, child *os.File, err error) {
	return nil, nil, errors.New("pseudo-terminal: not on this system")
}
