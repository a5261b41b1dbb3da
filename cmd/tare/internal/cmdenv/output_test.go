package cmdenv

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestOutputAppearsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	if err := os.WriteFile(path, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	try := func(text string, fail error) error {
		out, err := OpenOutput(path)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		return out.Save(func(f io.Writer) error {
			_, _ = io.WriteString(f, text)
			return fail
		})
	}
	if err := try("half", errors.New("stop")); err == nil {
		t.Error("a failure to write is no error")
	}
	if got, _ := os.ReadFile(path); string(got) != "before" {
		t.Errorf("after a failure: %q", got)
	}
	if err := try("after", nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "after" {
		t.Errorf("after success: %q", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}
