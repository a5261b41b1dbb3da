package cli_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/tarebench/tare/lab/journal"
)

// ext4 is a file system of its own, in a file.
type ext4 struct {
	close func() // more than once, too

	t                  *testing.T
	image, dir, device string
}

func newExt4(t *testing.T, dir string) *ext4 {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	e := &ext4{t: t, image: filepath.Join(t.TempDir(), "image"), dir: dir}
	if err := os.WriteFile(e.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(e.image, 64<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-e", "remount-ro", e.image).CombinedOutput(); err != nil {
		t.Skipf("no ext4 can be made here: %v %s", err, out)
	}
	out, err := exec.Command("losetup", "--find", "--show", e.image).CombinedOutput()
	if err != nil {
		t.Skipf("no file can be a device here: %v %s", err, out)
	}
	e.device = strings.TrimSpace(string(out))
	e.close = sync.OnceFunc(func() {
		_ = syscall.Unmount(e.dir, syscall.MNT_DETACH)
		if out, err := exec.Command("losetup", "--detach", e.device).CombinedOutput(); err != nil {
			t.Errorf("%v %s", err, out)
		}
	})
	t.Cleanup(e.close)
	if err := e.mount(); err != nil {
		t.Skip("no ext4 can be mounted here: ", err)
	}
	return e
}

func (e *ext4) mount() error { return syscall.Mount(e.device, e.dir, "ext4", 0, "") }

// again mounts it as it is found after a power loss: what was not on the disk is lost,
// and the file system's journal is played.
func (e *ext4) again() {
	e.t.Helper()
	if err := syscall.Unmount(e.dir, 0); err != nil {
		e.t.Fatal(err)
	}
	// A mount namespace that another process made meanwhile holds the file system as it
	// was, and mounting would give that.
	held := filepath.Join("/sys/fs/ext4", filepath.Base(e.device))
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(held); err != nil {
			break
		}
		if time.Now().After(end) {
			e.t.Skip("another mount namespace holds the file system")
		}
	}
	if err := e.mount(); err != nil {
		e.t.Fatal(err)
	}
}

// powerLoss drops all that is not on the disk: EXT4_IOC_SHUTDOWN without a last flush.
func (e *ext4) powerLoss() {
	e.t.Helper()
	const shutdown, noFlush = 0x8004587d, 2
	f, err := os.Open(e.dir)
	if err != nil {
		e.t.Fatal(err)
	}
	defer f.Close()
	how := uint32(noFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		e.t.Skip("this ext4 knows no power loss: ", errno)
	}
}

// fails has the system find an error in it, after which it is read-only.
func (e *ext4) fails() {
	e.t.Helper()
	if err := os.WriteFile(filepath.Join("/sys/fs/ext4", filepath.Base(e.device), "trigger_fs_error"), []byte("1"), 0o200); err != nil {
		e.t.Skip("no error can be triggered: ", err)
	}
}

// acknowledged counts the rounds in the journal that another line follows: their end
// was on the disk before that.
func acknowledged(dir string) int {
	paths, _ := filepath.Glob(filepath.Join(dir, "results", "json", "*", journal.FileName))
	if len(paths) == 0 {
		return 0
	}
	text, _ := os.ReadFile(paths[0])
	n := bytes.Count(text, []byte("\n{\"round\":{"))
	if last := bytes.LastIndex(text, []byte("\n{\"round\":{")); n > 0 && bytes.Count(text[last+1:], []byte("\n")) < 2 {
		n--
	}
	return n
}

// The power fails, or the file system becomes read-only, at any moment of a run on a
// real ext4: tare ends with a line, and what was acknowledged is there.
func TestRealFileSystem(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a file system for each of several runs")
	}
	cuts := 2
	if os.Getenv("TARE_SOAK") != "" {
		cuts = 50
	}
	for name, fault := range map[string]struct {
		strike func(*ext4)
		says   string
	}{
		"power loss": {(*ext4).powerLoss, "input/output error"},
		"read-only":  {(*ext4).fails, "read-only file system"},
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(26, 4))
			struck, rounds := 0, 0
			strike := func() {
				s := newScripted(t)
				e := newExt4(t, s.data())
				defer e.close()
				type end struct {
					code   int
					stderr string
				}
				ended := make(chan end, 1)
				go func() {
					code, stderr := s.tare("", "run", "--quiet", "json", "--seed", "5", "--rounds", "40")
					ended <- end{code, stderr}
				}()
				for range 1000 { // some rounds, or none
					if acknowledged(s.data()) > rng.IntN(6) {
						break
					}
					time.Sleep(time.Millisecond)
				}
				time.Sleep(time.Duration(rng.Int64N(int64(30 * time.Millisecond))))
				acked := acknowledged(s.data())
				fault.strike(e)
				got := <-ended
				if got.code != 0 {
					struck++
					s.fails(name, got.code, got.stderr, "")
					if !strings.Contains(got.stderr, fault.says) && !strings.Contains(got.stderr, "input/output error") {
						t.Errorf("%q, want %q", got.stderr, fault.says)
					}
				}
				e.again()
				rounds += acked
				if now := roundsIn(s.data()); now < acked {
					t.Errorf("%d rounds were acknowledged, %d are there", acked, now)
				}
				s.whole(name)
				code, stderr := s.tare("", "run", "--quiet", "json", "--rounds", "40", "--resume")
				if code == 2 && strings.Contains(stderr, "nothing to resume") {
					code, stderr = s.tare("", brief...)
				}
				if code != 0 {
					t.Errorf("%s, and then none: exit code %d: %s", name, code, stderr)
				}
			}
			for range cuts {
				strike()
			}
			t.Logf("%d of %d runs were struck, after %d acknowledged rounds: none was lost", struck, cuts, rounds)
			if struck == 0 {
				t.Error("no run was struck")
			}
		})
	}
}

// roundsIn counts the whole rounds in the journal.
func roundsIn(dir string) int {
	paths, _ := filepath.Glob(filepath.Join(dir, "results", "json", "*", journal.FileName))
	if len(paths) == 0 {
		return 0
	}
	text, _ := os.ReadFile(paths[0])
	return bytes.Count(text, []byte("\n{\"round\":{"))
}
