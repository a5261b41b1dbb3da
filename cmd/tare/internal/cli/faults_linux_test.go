package cli_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/atomicfile"
)

// newFaulty is a directory in which the scripted tare can be run. The directory name
// in it is a file system that fails.
func newFaulty(t *testing.T, name string) (scripted, *faulty) {
	t.Helper()
	s := newScripted(t)
	for _, dir := range []string{"disk", name} {
		if err := os.MkdirAll(filepath.Join(s.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return s, mountFaulty(t, filepath.Join(s.dir, "disk"), filepath.Join(s.dir, name))
}

// sample chooses the operations that a test has fail.
type sample struct {
	rng   *rand.Rand
	tried map[op]int // how often each kind of operation was chosen in a short test
}

func newSample() *sample { return &sample{rand.New(rand.NewPCG(45, 2)), map[op]int{}} }

// each calls try for the numbers, from 1, of all operations of trace if TARE_SOAK is
// set, else of a few of them, the first and the last among them. A short test has
// short of them, of the kinds that were chosen least often.
func (s *sample) each(trace []op, short int, try func(at int)) (tried int) {
	count := len(trace)
	if testing.Short() && os.Getenv("TARE_SOAK") == "" {
		order := s.rng.Perm(count)
		for range min(short, count) {
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.tried[trace[a]], s.tried[trace[b]]) })
			s.tried[trace[order[0]]]++
			try(order[0] + 1)
			order = order[1:]
		}
		return min(short, count)
	}
	step := 1
	if os.Getenv("TARE_SOAK") == "" {
		step = max(1, count/4)
	}
	for at := 1; ; at = min(at+step, count) {
		try(at)
		if tried++; at == count {
			return tried
		}
	}
}

// unsealed is the first run's result without its seal, which the key decides.
func unsealed(tree map[string]string) string {
	return regexp.MustCompile(`"seal": "[0-9a-f]+"`).ReplaceAllString(tree["/results/json/20260301T120000Z-5/result.json"], `"seal": ""`)
}

// isVoidBy reports whether a contender of a result is void because of an error.
func isVoidBy(result string, err error) bool {
	var r tare.Result
	return json.Unmarshal([]byte(result), &r) == nil && slices.ContainsFunc(r.Findings, func(f tare.Finding) bool {
		return f.Severity == tare.Void && f.Contender != "" && strings.HasSuffix(f.Message, ": "+err.Error())
	})
}

var brief = []string{"run", "--quiet", "json", "--seed", "5", "--rounds", "2"}

// Whatever operation on the data directory fails in the middle of a run, and however:
// tare ends with its result, with one that names the fault as the reason why a
// contender is void, or with one clear line. No document is torn, every round
// that was acknowledged is there, and the run goes on from it to the same result.
func TestNoFaultLosesARun(t *testing.T) {
	s, f := newFaulty(t, "data")
	f.begin(fault{}, 0)
	if code, stderr := s.tare("", brief...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	f.end()
	all, want, sampled := f.trace(), unsealed(f.tree(t)), newSample()
	for _, fault := range faults() {
		t.Run(fault.name, func(t *testing.T) {
			trace := all
			if fault.of != nil {
				trace = slices.DeleteFunc(slices.Clone(all), func(o op) bool { return !fault.of(o) })
			}
			count, failed, survived := len(trace), 0, 0
			tried := sampled.each(trace, 1, func(at int) {
				s, f := newFaulty(t, "data")
				defer f.unmount()
				f.begin(fault, at)
				code, stderr := s.tare("", brief...)
				_, o := f.end()
				when := fmt.Sprintf("%s at operation %d of %d, %s", fault.name, at, count, o)
				switch {
				case code == 0:
					survived++
					// A contender that could not read its input is void, and the result says why.
					if got := unsealed(f.tree(t)); got != want && !isVoidBy(got, fault.err) {
						t.Errorf("%s: exit code 0, and another result:\n%s", when, got)
					}
				case !fault.kill:
					failed++
					s.fails(when, code, stderr, fault.err.Error())
				}
				if now := f.rounds(); now < f.synced {
					t.Errorf("%s: %d rounds were acknowledged, %d are there", when, f.synced, now)
				}
				s.whole(when)
				if canRemove := fault.of == nil && !fault.since && o != "unlink" || fault.err == syscall.ENOSPC; canRemove && !fault.kill {
					s.tidy(when)
				}
				code, stderr = s.tare("", "run", "--quiet", "json", "--rounds", "2", "--resume")
				if code == 2 && strings.Contains(stderr, "nothing to resume") {
					code, stderr = s.tare("", brief...)
				}
				if code != 0 || s.whole(when) == 0 {
					t.Errorf("%s, and then none: exit code %d: %s", when, code, stderr)
				}
			})
			t.Logf("%d of %d operations failed: %d runs ended with a line, %d with their result", tried, count, failed, survived)
		})
	}
}

// Where a disk does not answer, what the system says of a directory is that it exists.
func TestMakeDirOnDeadDisk(t *testing.T) {
	s, f := newFaulty(t, "data")
	dir := filepath.Join(s.dir, "data", "run")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f.begin(fault{err: syscall.EIO, since: true}, 1)
	if err := os.MkdirAll(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		t.Skip("the system knows better: ", err)
	}
	if err := atomicfile.MakeDir(dir, 0o700); !errors.Is(err, syscall.EIO) {
		t.Errorf("the error is %v, want %v", err, syscall.EIO)
	}
	f.end()
	if err := atomicfile.MakeDir(dir, 0o700); err != nil {
		t.Error(err)
	}
}

// Commands that read print what they print without the fault, or the fault. They
// change nothing that was saved.
func TestNoReadErrorIsSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	sampled := newSample()
	for _, dir := range []string{"data", "cache"} {
		t.Run(dir, func(t *testing.T) {
			s, f := newFaulty(t, dir)
			if dir == "data" {
				s.seedSQLite()
			}
			f.begin(fault{}, 0)
			for _, args := range [][]string{brief, append(brief, "--seed", "6"), {"history", "json"}} {
				if code, stderr := s.tare("", args...); code != 0 {
					t.Fatalf("%q: exit code %d: %s", args, code, stderr)
				}
			}
			f.end()
			saved := f.tree(t)
			for i, args := range [][]string{
				{"history", "json"},
				{"history", "check"},
				{"history", "json", "--runs"},
				{"history", "export", "-"},
				{"report", "json"},
				{"report", "json", "--format", "json"},
			} {
				if dir == "cache" && i > 0 && os.Getenv("TARE_SOAK") == "" { // they read the same of it
					break
				}
				_, want, wantErr := s.output("", args...)
				f.begin(fault{}, 0)
				s.output("", args...)
				f.end()
				trace := f.trace()
				count := len(trace)
				if count == 0 {
					continue
				}
				for _, fault := range faults()[:3] { // those of reading: of all operations
					told := 0
					tried := sampled.each(trace, 1, func(at int) {
						f.begin(fault, at)
						code, stdout, stderr := s.output("", args...)
						_, o := f.end()
						when := fmt.Sprintf("%q, %s at operation %d of %d, %s", args, fault.name, at, count, o)
						switch {
						case strings.Contains(stdout+stderr, fault.err.Error()), strings.Contains(stderr, "sqlite3: disk I/O error"):
							if told++; code == 0 && args[0] != "history" || code == 1 && strings.Count(stderr, "\n") != 1 {
								t.Errorf("%s: exit code %d: %s", when, code, stderr)
							}
						case code != 0 || stdout != want || stderr != wantErr:
							t.Errorf("%s: exit code %d\n%s%s", when, code, stdout, stderr)
						}
					})
					t.Logf("%q, %s: %d of %d operations failed, %d commands printed it", args, fault.name, tried, count, told)
				}
			}
			if dir == "data" && !maps.Equal(f.tree(t), saved) {
				t.Error("a command that reads changed what is saved")
			}
		})
	}
}
