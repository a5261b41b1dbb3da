package sinktest

import (
	"os"
	"os/exec"
	"testing"
)

// The script .ci/brokers runs the tests with real programs as destinations, such as Kafka. It starts
// one program at a time, and sets TARE_REAL to its name and TARE_BROKERS to its own path.
const envReal = "TARE_REAL"

// Real is a program that .ci/brokers starts and kills.
type Real struct {
	t    testing.TB
	name string
}

// NewReal returns the program with that name. It skips the test if .ci/brokers has not started it.
func NewReal(t testing.TB, name string) *Real {
	t.Helper()
	if os.Getenv(envReal) != name {
		t.Skip(".ci/brokers runs this")
	}
	return &Real{t, name}
}

// Kill kills the program.
func (r *Real) Kill() { r.runScript("kill") }

// Start starts the program, and returns when it accepts connections.
func (r *Real) Start() { r.runScript("start") }

func (r *Real) runScript(command string) {
	r.t.Helper()
	cmd := exec.Command(os.Getenv("TARE_BROKERS"), command, r.name)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("%s %s: %v", command, r.name, err)
	}
}
