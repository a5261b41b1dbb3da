package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for the go command.
func TestMain(m *testing.M) {
	switch mode := os.Getenv("FAKE_GO"); mode {
	case "":
		os.Exit(m.Run())
	case "garbage":
		fmt.Println("hello")
	case "beat":
		beat()
	case "script":
		runScript(os.Args[1:])
	case "hang":
		if os.Args[1] == "env" {
			fmt.Println(`{"GOVERSION":"go1.25.0"}`)
			return
		}
		if err := os.WriteFile(os.Getenv("FAKE_GO_TAG"), []byte(os.Getenv("TARE_RUN")), 0o644); err != nil {
			os.Exit(1)
		}
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "FAKE_GO=beat")
		if child.Run() != nil {
			os.Exit(1)
		}
	}
}

// beat is a compiler that never ends. It writes into GOTMPDIR, and appends to a file as
// long as it runs.
func beat() {
	f, err := os.OpenFile(os.Getenv("FAKE_GO_BEAT"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		os.Exit(1)
	}
	for i := range 6000 { // a minute, should nobody end it
		_, _ = f.WriteString(".")
		_ = os.WriteFile(filepath.Join(os.Getenv("GOTMPDIR"), fmt.Sprint(i)), nil, 0o644)
		time.Sleep(10 * time.Millisecond)
	}
}

func newHangingGo(t *testing.T) (b *Builder, tag, beats string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tag, beats = filepath.Join(dir, "tag"), filepath.Join(dir, "beats")
	return &Builder{
		Cache: t.TempDir(), Go: self, Run: "run-7",
		Env: append(os.Environ(), "FAKE_GO=hang", "FAKE_GO_TAG="+tag, "FAKE_GO_BEAT="+beats, "TARE_RUN=somebody-else"),
	}, tag, beats
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// wantStopped fails the test if the compiler still runs.
func wantStopped(t *testing.T, beats string) {
	t.Helper()
	before := fileSize(beats)
	time.Sleep(100 * time.Millisecond)
	if after := fileSize(beats); after != before || after == 0 {
		t.Errorf("the compiler wrote %d beats, then %d: it outlived its build", before, after)
	}
}

func TestCancelEndsTheWholeTree(t *testing.T) {
	b, tag, beats := newHangingGo(t)
	leaf := tinyLeaf(t, `{"id":"tiny","kind":"codec"}`, tinyMain)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for fileSize(beats) < 3 {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	_, err := b.Build(ctx, leaf)
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	wantStopped(t, beats)
	wantNoLeftovers(t, b.Cache)
	if got, err := os.ReadFile(tag); err != nil || string(got) != "run-7" {
		t.Errorf("TARE_RUN of the go command is %q (%v), want run-7", got, err)
	}
}

func TestTimeoutEndsTheWholeTree(t *testing.T) {
	b, _, beats := newHangingGo(t)
	leaf := tinyLeaf(t, `{"id":"tiny","kind":"codec"}`, tinyMain)
	// On a busy machine the compiler may not have begun by then.
	for b.Timeout = 500 * time.Millisecond; fileSize(beats) == 0 && b.Timeout < time.Minute; b.Timeout *= 2 {
		_, err := b.Build(t.Context(), leaf)
		if err == nil || err.Error() != fmt.Sprintf("building tiny took longer than %v and was ended", b.Timeout) {
			t.Errorf("error %v", err)
		}
	}
	wantStopped(t, beats)
	wantNoLeftovers(t, b.Cache)
}

func TestNotAGoCommand(t *testing.T) {
	b, _, _ := newHangingGo(t)
	b.Env = append(b.Env, "FAKE_GO=garbage")
	_, err := b.Build(t.Context(), tinyLeaf(t, `{"id":"tiny","kind":"codec"}`, tinyMain))
	if !errors.Is(err, ErrNoToolchain) {
		t.Errorf("error %v, want ErrNoToolchain", err)
	}
}

func TestSweepRemovesOnlyAbandonedBuilds(t *testing.T) {
	bin := t.TempDir()
	writeFiles(t, bin, map[string]string{tmpPrefix + "old/x": "", tmpPrefix + "new/x": "", "kept/x": ""})
	long := time.Now().Add(-2 * abandonedAge)
	for _, name := range []string{tmpPrefix + "old", "kept"} {
		if err := os.Chtimes(filepath.Join(bin, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	removeAbandoned(bin)
	var left []string
	entries, _ := os.ReadDir(bin)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != tmpPrefix+"new kept" {
		t.Errorf("left %q", got)
	}
}
