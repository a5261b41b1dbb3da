//go:build unix && !solaris && !aix

package sink

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestOneProcessAtATime(t *testing.T) {
	p := filepath.Join(t.TempDir(), "e")
	f := mustOpen(t, p, Options{})
	if g, _, err := Open(p, Options{}); err == nil {
		t.Error("opened twice", g.Close())
	} else if !strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	mustOpen(t, p, Options{})
}

// keeperEnv makes the test's own program keep lines in the file it names, until
// it is killed. It prints each that is acknowledged.
const keeperEnv = "TARE_TEST_KEEPER"

func TestMain(m *testing.M) {
	if p := os.Getenv(keeperEnv); p != "" {
		keepOn(p)
		return
	}
	os.Exit(m.Run())
}

func keepOn(p string) {
	f, _, err := Open(p, Options{Rotate: 200_000})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	var mu sync.Mutex
	life := time.Now().UnixNano()
	for caller := range 8 {
		go func() {
			for i := 0; ; i++ {
				a, b := fmt.Sprintf("%d-%d-%d-a", life, caller, i), fmt.Sprintf("%d-%d-%d-b", life, caller, i)
				pad := strings.Repeat(".", 300)
				if f.Keep(context.Background(), []byte(a+pad+"\n"+b+pad+"\n"), 2) == nil {
					mu.Lock()
					fmt.Printf("%s\n%s\n", a, b)
					mu.Unlock()
				}
			}
		}()
	}
	time.Sleep(time.Minute) // in case nobody kills it
}

// TestKilledProcess kills a process that keeps lines, again and again, and
// looks for what it has acknowledged.
func TestKilledProcess(t *testing.T) {
	lives := 10
	if os.Getenv("TARE_SOAK") != "" {
		lives = 100
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := filepath.Join(dir, "e")
	rng := rand.New(rand.NewPCG(1, 1))
	acknowledged := map[string]bool{}
	for range lives {
		for _, line := range oneLife(t, self, p, 200+rng.IntN(2000)) {
			acknowledged[line] = true
		}
	}
	mustOpen(t, p, Options{})
	seen := map[string]int{}
	for name, text := range read(t, dir) {
		if text != "" && !strings.HasSuffix(text, "\n") {
			t.Errorf("%s ends in a part of a line", name)
		}
		for line := range strings.Lines(text) {
			name, rest, _ := strings.Cut(line, ".")
			seen[name]++
			if len(rest) != 300 {
				t.Errorf("%q is no whole line", line)
			}
		}
	}
	for line, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", line, n)
		}
	}
	for line := range acknowledged {
		if seen[line] == 0 {
			t.Errorf("%s was acknowledged and is not there", line)
		}
	}
	if len(acknowledged) < 200*lives {
		t.Errorf("only %d lines were acknowledged", len(acknowledged))
	}
}

// oneLife runs a keeper until it has acknowledged some lines, kills it, and
// returns all that it has.
func oneLife(t *testing.T, self, p string, lines int) []string {
	t.Helper()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), keeperEnv+"="+p)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var got []string
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break // what the pipe still held has been read; a part of a line says nothing
		}
		got = append(got, string(bytes.TrimSuffix(line, []byte("\n"))))
		if len(got) == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(got) < lines {
		t.Fatalf("it ended by itself: %v, %q", err, got[:min(3, len(got))])
	}
	return got
}
