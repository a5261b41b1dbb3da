package gatecmd

import (
	"os"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/project"
)

// What a project wants in the environment is there for both sides, and gone
// afterwards.
func TestBenchEnvironment(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("TEST_KEPT", "before")
	restore, err := benchEnvironment(project.Bench{Env: []string{"TEST_KEPT=x", "TEST_NEW=y=z", "TARE_DATA=elsewhere", "GITHUB_OUTPUT=elsewhere"}, Tags: []string{"a", "b"}}, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv("TEST_KEPT") + " " + os.Getenv("TEST_NEW") + " " + os.Getenv("GOFLAGS"); got != "x y=z -mod=mod -tags=a,b" {
		t.Errorf("set: %q", got)
	}
	if os.Getenv("TARE_DATA") == "elsewhere" || os.Getenv("GITHUB_OUTPUT") == "elsewhere" {
		t.Error("a project directs tare")
	}
	restore()
	if _, there := os.LookupEnv("TEST_NEW"); there || os.Getenv("TEST_KEPT") != "before" || os.Getenv("GOFLAGS") != "-mod=mod" {
		t.Errorf("not restored: %q", os.Environ())
	}
}
