package sinktest

import (
	"os"
	"os/exec"
	"testing"
)

// envReal names the destination that .ci/brokers has started.
const envReal = "TARE_REAL"

// Real is a destination that .ci/brokers starts and kills.
type Real struct {
	t    testing.TB
	name string
}

// NewReal returns the destination of a name, if the test runs in .ci/brokers with it.
func NewReal(t testing.TB, name string) *Real {
	t.Helper()
	if os.Getenv(envReal) != name {
		t.Skip(".ci/brokers runs this")
	}
	return &Real{t, name}
}

// Kill ends it immediately.
func (r *Real) Kill() { r.runScript("kill") }

// Start returns when it accepts connections again.
func (r *Real) Start() { r.runScript("start") }

func (r *Real) runScript(what string) {
	r.t.Helper()
	cmd := exec.Command(os.Getenv("TARE_BROKERS"), what, r.name)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("%s %s: %v", what, r.name, err)
	}
}
