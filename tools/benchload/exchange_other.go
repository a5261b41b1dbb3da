//go:build !linux

package main

import (
	"errors"
	"io"
)

// runExchange returns an error: it is only implemented on Linux.
func runExchange([]string, io.Writer) error {
	return errors.New("the kernel's limit is measured on Linux")
}
