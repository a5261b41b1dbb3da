//go:build !linux

package machine

import "errors"

// HasInstructions returns an error: the instructions of programs cannot be counted on this system.
func HasInstructions() error { return errors.New("tare reads them on Linux only") }

// CountInstructions returns the error of HasInstructions.
func CountInstructions(func() error) (read func() (uint64, error), err error) {
	return nil, HasInstructions()
}
