package index

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/report"
)

// noon returns the start of the first run of a test.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// measured returns a result in which new has the given ratio to old, with an interval of ratio ±
// half.
func measured(minutes int, ratio, half float64) *tare.Result {
	return &tare.Result{
		Schema: tare.ResultSchema, Study: "s", Run: tare.Run{Started: noon().Add(time.Duration(minutes) * time.Minute), Seed: fmt.Sprint(minutes)},
		Measured: tare.Measured{
			RoundsDone:  8,
			Comparisons: []tare.Comparison{{Workload: "w", Contender: "new", Metric: "time", Against: "old", Ratio: ratio, Low: ratio - half, High: ratio + half, Level: 0.95, Rounds: 8}},
		},
		Design: tare.Design{
			Metrics:    []string{"time"},
			Contenders: []tare.Contender{{ID: "old", Role: tare.RoleBaseline}, {ID: "new", Role: tare.RoleContender}},
			Workloads:  []tare.Workload{{ID: "w", Fixture: "devices", Op: "marshal"}},
		},
	}
}

func document(t testing.TB, r *tare.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// keepAll writes results as runs keep them, and returns the data directory.
func keepAll(t testing.TB, results ...*tare.Result) string {
	t.Helper()
	data := t.TempDir()
	for _, r := range results {
		keepOne(t, data, r)
	}
	return data
}

func keepOne(t testing.TB, data string, r *tare.Result) string {
	t.Helper()
	dir := filepath.Join(data, "results", r.Study, r.Started.Format(history.NameTime)+"-"+r.Seed)
	write(t, filepath.Join(dir, history.ResultName), document(t, r))
	return dir
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, data string) *Index {
	t.Helper()
	x, err := Open(t.Context(), data, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// ratios returns the ratios of new that the index has, machine by machine and from the oldest run.
func ratios(t testing.TB, x *Index) []float64 {
	t.Helper()
	trend, err := x.Trend(t.Context(), history.Query{Study: "s", Contenders: []string{"new"}})
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for _, m := range trend.Machines {
		for _, p := range m.Series[0].Points {
			out = append(out, p.Ratio)
		}
	}
	return out
}

func TestTheIndexFollowsTheDocuments(t *testing.T) {
	data := keepAll(t, measured(0, 0.5, 0.1), measured(1, 0.6, 0.1))
	see := func(what string, want ...float64) {
		t.Helper()
		x, err := Open(t.Context(), data, "")
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		if got := ratios(t, x); !slices.Equal(got, want) || len(x.Notes) > 0 {
			t.Errorf("%s: %v, want %v; %q", what, got, want, x.Notes)
		}
	}
	see("made", 0.5, 0.6)
	gone := keepOne(t, data, measured(2, 0.7, 0.1))
	see("one more", 0.5, 0.6, 0.7)
	os.RemoveAll(gone)
	see("one gone", 0.5, 0.6)
	path := filepath.Join(keepOne(t, data, measured(1, 0.65, 0.1)), history.ResultName)
	old := noon()
	if err := os.Chtimes(path, old, old); err != nil { // whatever the clock's resolution
		t.Fatal(err)
	}
	see("one rewritten", 0.5, 0.65)
	os.Remove(filepath.Join(data, Name))
	see("deleted", 0.5, 0.65)
}

func TestADamagedIndexIsMadeAgain(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, path string){
		"text":    func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("not a database\n", 100))) },
		"cut off": func(t *testing.T, path string) { os.Truncate(path, 5000) },
		"overwritten": func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteAt([]byte(strings.Repeat("\xff", 8192)), 4096)
			f.Close()
		},
		"a table gone": func(t *testing.T, path string) { execute(t, path, "DROP TABLE pair") },
	} {
		t.Run(name, func(t *testing.T) {
			data := keepAll(t, measured(0, 0.5, 0.1), measured(1, 0.6, 0.1))
			path := filepath.Join(data, Name)
			open(t, data).Close()
			damage(t, path)
			x := open(t, data)
			if got := ratios(t, x); !slices.Equal(got, []float64{0.5, 0.6}) {
				t.Errorf("%v", got)
			}
			if len(x.Notes) != 1 || x.Notes[0] != path+" was damaged; it was made again from the results" {
				t.Errorf("%q", x.Notes)
			}
			x.Close()
			if again := open(t, data); len(again.Notes) > 0 {
				t.Errorf("it is damaged still: %q", again.Notes)
			}
		})
	}
}

// failing is the file system of the operating system, whose read number at fails.
type failing struct {
	vfs.VFSFilename
	at, reads int
}

func (f *failing) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	file, flags, err := f.VFSFilename.OpenFilename(name, flags)
	return failingFile{file, f}, flags, err
}

type failingFile struct {
	vfs.File
	of *failing
}

func (f failingFile) ReadAt(p []byte, offset int64) (int, error) {
	if f.of.reads++; f.of.reads == f.of.at {
		return 0, syscall.EIO
	}
	return f.File.ReadAt(p, offset)
}

// Whichever read fails, including those of the check of all pages, a page that cannot be read is
// not taken for a damaged one.
func TestReadErrorIsNotDamage(t *testing.T) {
	data := keepAll(t, measured(0, 0.5, 0.1), measured(1, 0.6, 0.1))
	open(t, data).Close()
	f := &failing{VFSFilename: vfs.Find("").(vfs.VFSFilename)}
	vfs.Register(t.Name(), f)
	t.Cleanup(func() { vfs.Unregister(t.Name()) })
	failed := 0
	for {
		f.reads = 0
		f.at = failed + 1
		x := &Index{results: filepath.Join(data, "results")}
		err := x.connect(t.Context(), "file:"+filepath.Join(data, Name)+"?vfs="+t.Name())
		x.closeDB()
		if f.reads < f.at {
			if err != nil {
				t.Errorf("no read fails: %v", err)
			}
			break
		}
		failed++
		if !errors.Is(err, sqlite3.IOERR) || errors.Is(err, errNotIndex) {
			t.Errorf("read %d fails: %v", f.at, err)
		}
	}
	t.Logf("%d reads failed", failed)
	if failed < 6 { // the header and the pages of the tables
		t.Errorf("only %d reads failed", failed)
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func TestAnIndexOfAnotherVersionIsMadeAgain(t *testing.T) {
	data := keepAll(t, measured(0, 0.5, 0.1))
	path := filepath.Join(data, Name)
	open(t, data).Close()
	execute(t, path, "UPDATE pair SET ratio = 7; PRAGMA user_version = 3")
	x := open(t, data)
	if got := ratios(t, x); !slices.Equal(got, []float64{0.5}) || len(x.Notes) > 0 {
		t.Errorf("%v, %q", got, x.Notes)
	}
}

func TestWhereItCannotBeKeptItIsInMemory(t *testing.T) {
	data := keepAll(t, measured(0, 0.5, 0.1))
	path := filepath.Join(data, Name)
	execute(t, path, "CREATE TABLE mine (x)")
	x := open(t, data)
	if got := ratios(t, x); !slices.Equal(got, []float64{0.5}) || len(x.Notes) != 1 || !strings.Contains(x.Notes[0], "it is a database of something else") {
		t.Errorf("somebody else's database: %v, %q", got, x.Notes)
	}
	x.Close()
	execute(t, path, "SELECT x FROM mine")
	os.Remove(path)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	x = open(t, data)
	if got := ratios(t, x); !slices.Equal(got, []float64{0.5}) || len(x.Notes) != 1 || !strings.Contains(x.Notes[0], "it is not a regular file") {
		t.Errorf("a directory: %v, %q", got, x.Notes)
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	open(t, nowhere).Close()
	if isDir(nowhere) {
		t.Error("asking made the data directory")
	}
}

func TestManyAtOnce(t *testing.T) {
	data := keepAll(t)
	open(t, data).Close() // sets SQLite up
	const writers, each = 4, 5
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				keepOne(t, data, measured(w*each+i, 0.5, 0.1))
				x, err := Open(context.Background(), data, "")
				if err != nil {
					t.Error(err)
					return
				}
				if len(x.Notes) > 0 {
					t.Errorf("%q", x.Notes)
				}
				x.Close()
			}
		})
	}
	all.Wait()
	if got := ratios(t, open(t, data)); len(got) != writers*each {
		t.Errorf("%d of %d runs", len(got), writers*each)
	}
}

func TestOneThatCannotBeReadIsNamed(t *testing.T) {
	data := keepAll(t, measured(0, 0.5, 0.1))
	bad := filepath.Join(data, "results", "s", "20260301T130000Z-9", history.ResultName)
	write(t, bad, []byte(`{"schema": "tare.result/2"}`))
	x := open(t, data)
	trend, err := x.Trend(t.Context(), history.Query{Study: "s"})
	if err != nil || len(trend.Unreadable) != 1 || !strings.HasPrefix(trend.Unreadable[0], bad+": schema tare.result/2 is newer") || len(trend.Machines) != 1 {
		t.Errorf("%+v, %v", trend, err)
	}
	digests, err := x.Digests(t.Context())
	if err != nil || len(digests) != 2 || digests[filepath.Dir(bad)].Error == "" {
		t.Errorf("%v, %v", digests, err)
	}
}

func TestNames(t *testing.T) {
	names, err := open(t, keepAll(t, measured(0, 0.5, 0.1))).Names(t.Context(), "s")
	if err != nil || !slices.Equal(names.Contenders, []string{"new", "old"}) || !slices.Equal(names.Workloads, []string{"w"}) || !slices.Equal(names.Metrics, []string{"time"}) {
		t.Errorf("%+v, %v", names, err)
	}
}

func TestWhatStandsTheOtherWayRound(t *testing.T) {
	trend, err := open(t, keepAll(t, measured(0, 0.5, 0.125))).Trend(t.Context(), history.Query{Study: "s", Against: "new"})
	if err != nil || len(trend.Machines) != 1 || len(trend.Machines[0].Series) != 1 {
		t.Fatalf("%+v, %v", trend, err)
	}
	if p := trend.Machines[0].Series[0].Last; p.Ratio != 2 || p.Low != 1/0.625 || p.High != 1/0.375 {
		t.Errorf("%+v", p)
	}
}
