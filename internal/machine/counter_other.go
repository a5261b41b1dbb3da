//go:build !linux

package machine

import "errors"

// HasInstructions returns an error: the instructions of programs cannot be counted on this system.
func HasInstructions() error { return errors.New("tare reads them on Linux only") }

// CountInstructions would call start and count the instructions of the program that it starts. On
// this system it only returns the error of HasInstructions.
func CountInstructions(start func() error) (read func() (uint64, error), err error) {
	return nil, HasInstructions()
}
