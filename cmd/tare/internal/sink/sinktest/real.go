package sinktest

import (
	"os"
	"os/exec"
	"testing"
)

// envReal names the destination, such as kafka, that the script .ci/brokers has started.
const envReal = "TARE_REAL"

// Real is a destination that .ci/brokers starts and kills.
type Real struct {
	t    testing.TB
	name string
}

// NewReal returns the destination name. It skips the test if .ci/brokers has not started it.
func NewReal(t testing.TB, name string) *Real {
	t.Helper()
	if os.Getenv(envReal) != name {
		t.Skip(".ci/brokers runs this")
	}
	return &Real{t, name}
}

// Kill kills the destination.
func (r *Real) Kill() { r.runScript("kill") }

// Start starts the destination, and returns when it accepts connections.
func (r *Real) Start() { r.runScript("start") }

func (r *Real) runScript(command string) {
	r.t.Helper()
	cmd := exec.Command(os.Getenv("TARE_BROKERS"), command, r.name)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("%s %s: %v", command, r.name, err)
	}
}
