package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
	"github.com/tarebench/tare/lab/journal"
)

// scripted is a directory in which the scripted tare can be run.
type scripted struct {
	t   *testing.T
	dir string
}

func newScripted(t *testing.T) scripted {
	t.Helper()
	s := scripted{t, t.TempDir()}
	archive, err := txtar.ParseFile("testdata/script/resume.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		path := filepath.Join(s.dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.data(), 0o700); err != nil {
		t.Fatal(err)
	}
	return s
}

// seedSQLite gives tare a cache with the machine code of SQLite.
func (s scripted) seedSQLite() {
	s.t.Helper()
	if err := seedSQLite(filepath.Join(s.dir, "cache"), testtare.Cache(s.t)); err != nil {
		s.t.Fatal(err)
	}
}

func (s scripted) data() string { return filepath.Join(s.dir, "data") }

// tare runs it under a shell's setting, e.g. "ulimit -f 8".
func (s scripted) tare(setting string, args ...string) (code int, stderr string) {
	s.t.Helper()
	code, _, stderr = s.output(setting, args...)
	return code, stderr
}

func (s scripted) output(setting string, args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", setting + "\nexec tare \"$@\"", "sh"}, args...)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "TARE_CACHE="+filepath.Join(s.dir, "cache"), "TARE_DATA="+s.data(), "TARE_LOCK="+ownLock+filepath.Base(s.dir),
		"SCRIPT="+filepath.Join(s.dir, "script.json"), "GORACE=atexit_sleep_ms=0", fewCollections)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// fails wants one clear line and the code of an I/O error.
func (s scripted) fails(when string, code int, stderr, cause string) {
	s.t.Helper()
	if code != 1 || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "tare: ") || !strings.Contains(stderr, cause) {
		s.t.Errorf("%s: exit code %d, %q; want 1 and one line that says %q", when, code, stderr, cause)
	}
}

// whole wants every document that is there whole, and every journal readable.
func (s scripted) whole(when string) (results int) {
	s.t.Helper()
	err := filepath.WalkDir(s.data(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case name == "result.json":
			var r tare.Result
			if err := json.Unmarshal(text, &r); err != nil || r.Schema != tare.ResultSchema {
				s.t.Errorf("%s: a torn result of %d bytes: %v", when, len(text), err)
			}
			results++
		case name == "report.html" && !bytes.HasSuffix(bytes.TrimSpace(text), []byte("</html>")):
			s.t.Errorf("%s: a torn page of %d bytes", when, len(text))
		case name == "key" && len(text) != 65:
			s.t.Errorf("%s: a torn key of %d bytes", when, len(text))
		case name == journal.FileName && bytes.Contains(text, []byte("\n")):
			if _, err := journal.Read(path); err != nil {
				s.t.Errorf("%s: %v", when, err)
			}
		}
		return nil
	})
	if err != nil {
		s.t.Error(err)
	}
	return results
}

// tidy wants no file that was begun and not kept.
func (s scripted) tidy(when string) {
	s.t.Helper()
	err := filepath.WalkDir(s.data(), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(filepath.Base(path), ".") {
			s.t.Errorf("%s: left behind: %s", when, path)
		}
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
}

// goesOn wants what the full disk left to be of use, or a new run to do.
func (s scripted) goesOn(when string, flags ...string) {
	s.t.Helper()
	code, stderr := s.tare("", append([]string{"run", "--quiet", "json", "--resume"}, flags...)...)
	if code == 2 && strings.Contains(stderr, "nothing to resume") {
		code, stderr = s.tare("", append([]string{"run", "--quiet", "json", "--seed", "5"}, flags...)...)
	}
	if code != 0 || s.whole(when) == 0 {
		s.t.Errorf("%s, and then there is room: exit code %d: %s", when, code, stderr)
	}
}

// next is the size to try after n: every one where TARE_SOAK is set, else more and more
// of them are left out, and in a short test most.
func next(n, step int) int {
	switch {
	case os.Getenv("TARE_SOAK") != "":
		return n + step
	case testing.Short():
		return n + max(step, n/2/step*step)
	}
	return n + max(step, n/4/step*step)
}

// few is a run of enough rounds to fill several blocks and pages.
var few = []string{"run", "--quiet", "json", "--seed", "5", "--rounds", "4"}

// A file that may not grow any more ends a run with one line, wherever in the run
// that is: no limit is taken for a whole document, and with more room it goes on.
func TestNoRoomInAFile(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	failed := 0
	for blocks := 0; ; blocks = next(blocks, 2) { // of 512 bytes
		s := newScripted(t)
		when := fmt.Sprintf("files of %d bytes", blocks*512)
		code, stderr := s.tare(fmt.Sprintf("ulimit -f %d", blocks), few...)
		if code == 0 {
			s.whole(when)
			t.Logf("%d sizes were too small, %d bytes are enough", failed, blocks*512)
			break
		}
		failed++
		s.fails(when, code, stderr, "file too large")
		s.whole(when)
		s.tidy(when)
		s.goesOn(when, "--rounds", "4")
		if blocks > 2000 || t.Failed() {
			t.Fatal("no size is enough")
		}
	}
	if failed < 5 {
		t.Errorf("only %d sizes were too small", failed)
	}
}

// A disk that is full ends a run in the same way, at any page of it.
func TestNoRoomOnTheDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	failed := 0
	for pages := 1; ; pages = next(pages, 1) {
		s := newScripted(t)
		mount(t, s.data(), fmt.Sprintf("size=%d", pages*os.Getpagesize()))
		when := fmt.Sprintf("a disk of %d pages", pages)
		code, stderr := s.tare("", few...)
		if code == 0 {
			s.whole(when)
			t.Logf("%d sizes were too small, %d pages are enough", failed, pages)
			break
		}
		failed++
		s.fails(when, code, stderr, "no space left on device")
		s.whole(when)
		s.tidy(when)
		if err := syscall.Mount("tmpfs", s.data(), "tmpfs", syscall.MS_REMOUNT, "size=16m"); err != nil {
			t.Fatal(err)
		}
		s.goesOn(when, "--rounds", "4")
		if pages > 500 || t.Failed() {
			t.Fatal("no size is enough")
		}
	}
	if failed < 5 {
		t.Errorf("only %d sizes were too small", failed)
	}
}

// What writes nothing works on a disk that is read-only; what writes says so.
func TestReadOnlyDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	s := newScripted(t)
	mount(t, s.data(), "size=16m")
	whole, err := os.ReadFile(filepath.Join(s.dir, "whole.json"))
	if err != nil {
		t.Fatal(err)
	}
	cut, err := os.ReadFile(filepath.Join(s.dir, "cut.json"))
	if err != nil {
		t.Fatal(err)
	}
	play := func(script []byte) {
		if err := os.WriteFile(filepath.Join(s.dir, "script.json"), script, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	protect := func(flag uintptr) {
		if err := syscall.Mount("tmpfs", s.data(), "tmpfs", syscall.MS_REMOUNT|flag, ""); err != nil {
			t.Fatal(err)
		}
	}
	protect(syscall.MS_RDONLY)
	code, stderr := s.tare("", "run", "--quiet", "json", "--seed", "5")
	s.fails("before the first run", code, stderr, "read-only file system")
	protect(0)
	play(cut)
	if code, stderr := s.tare("", "run", "--quiet", "json", "--seed", "5"); code != 130 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	play(whole)
	protect(syscall.MS_RDONLY)
	for _, args := range [][]string{{"run", "--quiet", "json", "--resume"}, {"run", "--quiet", "json", "--seed", "6"}} {
		code, stderr := s.tare("", args...)
		s.fails(strings.Join(args, " "), code, stderr, "read-only file system")
	}
	if n := s.whole("read-only"); n != 1 {
		t.Errorf("%d results", n)
	}
	if code, stderr := s.tare("", "report", "json"); code != 0 {
		t.Errorf("report: exit code %d: %s", code, stderr)
	}
	protect(0)
	s.goesOn("read-only, and then not")
}

func mount(t *testing.T, dir, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skip("no file system can be mounted here: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}
