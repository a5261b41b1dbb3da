//go:build !linux

package store

import "testing"

func smallDisk(t *testing.T) string {
	t.Skip("no small disk: it is a tmpfs of Linux")
	return ""
}

func freeze(t *testing.T, _ int) { t.Skip("no process is stopped but on Linux") }
