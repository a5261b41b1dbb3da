package contendertest_test

import (
	"os/exec"
	"testing"

	"github.com/tarebench/tare/contender/contendertest"
)

// TestAnotherLanguage: a codec that follows docs/contender-protocol.md, and has nothing of
// ours, passes the suite.
func TestAnotherLanguage(t *testing.T) {
	if out, err := exec.Command("python3", "--version").CombinedOutput(); err != nil {
		t.Skipf("no python3 that runs: %v %s", err, out)
	}
	contendertest.RunCommand(t, "testdata/python", "python3", "testdata/python/codec.py")
}
