//go:build !linux

package testtare

import "os/exec"

// Bind does nothing: only Linux notifies programs of the end of their parent.
func Bind(*exec.Cmd) {}
