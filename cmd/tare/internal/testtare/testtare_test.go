package testtare

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The program of these tests prints its name, and starts itself once more under
// another name and with an empty environment.
func TestMain(m *testing.M) {
	os.Exit(Main(m, func() int {
		path, err := os.Executable()
		if err == nil && filepath.Base(path) == "tare" {
			other := filepath.Join(filepath.Dir(path), "agent-1")
			if err = os.Link(path, other); err == nil {
				cmd := exec.Command(other)
				cmd.Env, cmd.Stdout = []string{}, os.Stdout
				err = cmd.Run()
			}
		}
		fmt.Println(path, err)
		return 3
	}))
}

func TestProgramIsTareUnderAnyName(t *testing.T) {
	path := Program(t)
	out, err := exec.Command(path).Output()
	exit, ok := err.(*exec.ExitError)
	if want := strings.ReplaceAll(filepath.Dir(path)+"/agent-1 <nil>\nPATH exit status 3\n", "PATH", path); !ok || exit.ExitCode() != 3 || string(out) != want {
		t.Errorf("%v: it printed %q, want %q", err, out, want)
	}
}

func TestCopyIsTheSameProgram(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "copy")
	if err := copyFile(binary, path); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path).Output()
	if _, ok := err.(*exec.ExitError); !ok || string(out) != path+" <nil>\n" {
		t.Errorf("%v: it printed %q", err, out)
	}
}

func TestIsTest(t *testing.T) {
	for args, want := range map[string]bool{
		"/tmp/b001/e2e.test": true, "e2e.test.exe -test.v": true, "debug -test.run=X": true,
		"tare": false, "/x/tare.exe run": false, "agent-0123 agent": false, "/x.test/tare": false,
	} {
		if got := isTest(strings.Fields(args)); got != want {
			t.Errorf("%s: %v, want %v", args, got, want)
		}
	}
}

// Caches of today and yesterday may be in use.
func TestOldCachesAreRemoved(t *testing.T) {
	base := t.TempDir()
	now := time.Date(2026, 3, 3, 0, 0, 1, 0, time.UTC)
	for _, name := range []string{"2026-02-28/bin", "2026-03-01", "2026-03-02", "of another program"} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		dir, err := openCache(base, now)
		if err != nil || dir != filepath.Join(base, "2026-03-03") {
			t.Fatalf("%s, %v", dir, err)
		}
	}
	entries, err := os.ReadDir(base)
	if got := fmt.Sprint(entries); err != nil || got != "[d 2026-03-02/ d 2026-03-03/ d of another program/]" {
		t.Errorf("%v, %s", err, got)
	}
}

func TestCacheIsShared(t *testing.T) {
	if dir := Cache(t); dir != Cache(t) {
		t.Error("there are two caches")
	} else if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("%s: %v", dir, err)
	}
}
