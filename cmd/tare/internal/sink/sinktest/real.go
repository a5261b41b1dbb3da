package sinktest

import (
	"os"
	"os/exec"
	"testing"
)

// envReal names the far side that .ci/brokers has started.
const envReal = "TARE_REAL"

// Real is a far side that .ci/brokers starts and kills.
type Real struct {
	t    testing.TB
	name string
}

// NewReal is the far side of a name, where the test runs in .ci/brokers with it.
func NewReal(t testing.TB, name string) *Real {
	t.Helper()
	if os.Getenv(envReal) != name {
		t.Skip(".ci/brokers runs this")
	}
	return &Real{t, name}
}

// Kill ends it at once.
func (r *Real) Kill() { r.run("kill") }

// Start returns when it answers again.
func (r *Real) Start() { r.run("start") }

func (r *Real) run(what string) {
	r.t.Helper()
	cmd := exec.Command(os.Getenv("TARE_BROKERS"), what, r.name)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("%s %s: %v", what, r.name, err)
	}
}
