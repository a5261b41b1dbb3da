package session

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/report"
)

// written is a result as a reader of its document has it.
func written(t *testing.T, r *tare.Result) *tare.Result {
	t.Helper()
	var doc bytes.Buffer
	if err := report.JSON(&doc, r); err != nil {
		t.Fatal(err)
	}
	read, err := history.Parse("x", doc.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return read[0]
}

// TestSeal: whatever of a result decides what is run, changed it is foreign.
func TestSeal(t *testing.T) {
	d := cmdenv.Dirs{Data: t.TempDir()}
	sound := func() *tare.Result {
		return &tare.Result{
			Schema: tare.ResultSchema, Study: "s", Run: tare.Run{Seed: "7", Budget: "quick (40s)", Procs: 2, Env: []string{"GOGC=200"}, Seconds: 3},
			Design: tare.Design{Contenders: []tare.Contender{{ID: "a", Version: "v1.0.0", Build: tare.Build{Go: "go1.26.0", Modules: []tare.Module{{Path: "example.com/a", Version: "v1.0.0"}}}}}},
			Record: tare.Record{Asked: tare.Asked{
				Study: "study: s\r\n", Dir: "/d", Command: []string{"bench", "--base", "a\xffb"}, WorkDir: "/w\xff",
				Files: map[string]string{"f": "00"}, With: []string{"example.com/b@v1.0.0"}, Go: "go1.26.0",
			}},
		}
	}
	made := func(r *tare.Result) bool {
		is, err := IsMadeHere(d, r, "")
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	if made(sound()) {
		t.Error("a result without a seal is own")
	}
	if _, err := os.Stat(filepath.Join(d.Data, KeyName)); err == nil {
		t.Error("a key was made to look at a result")
	}
	of := func(change func(*tare.Result)) *tare.Result {
		r := sound()
		if err := sealResult(d, r); err != nil {
			t.Fatal(err)
		}
		r = written(t, r)
		change(r)
		return written(t, r)
	}
	if !made(of(func(*tare.Result) {})) {
		t.Error("an own result is foreign")
	}
	if !made(of(func(r *tare.Result) { r.Seconds = 4 })) {
		t.Error("a result is foreign for a figure that decides nothing")
	}
	for what, change := range map[string]func(*tare.Result){
		"study": func(r *tare.Result) { r.Study = "t" }, "seed": func(r *tare.Result) { r.Seed = "8" }, "budget": func(r *tare.Result) { r.Budget = "full" },
		"processors": func(r *tare.Result) { r.Procs = 1 }, "environment": func(r *tare.Result) { r.Env = append(r.Env, "LD_PRELOAD=x") },
		"isolation": func(r *tare.Result) { r.Plan.Isolation = tare.TrialWise }, "text": func(r *tare.Result) { r.Asked.Study += "#" },
		"directory": func(r *tare.Result) { r.Asked.Dir = "/e" }, "command": func(r *tare.Result) { r.Asked.Command[1] = "--head" },
		"directory of the command": func(r *tare.Result) { r.Asked.WorkDir = "/" }, "files": func(r *tare.Result) { r.Asked.Files["g"] = "00" },
		"modules": func(r *tare.Result) { r.Asked.With[0] = "example.com/c@v1.0.0" }, "Go": func(r *tare.Result) { r.Asked.Go = "" },
		"linked modules": func(r *tare.Result) { r.Contenders[0].Modules[0].Version = "v2.0.0" }, "Go of a contender": func(r *tare.Result) { r.Contenders[0].Go = "go1.25.0" },
		"version": func(r *tare.Result) { r.Contenders[0].Version = "v1" }, "contenders": func(r *tare.Result) { r.Contenders = nil },
		"seal": func(r *tare.Result) { r.Asked.Seal = r.Asked.Seal[1:] }, "no seal": func(r *tare.Result) { r.Asked.Seal = "" },
	} {
		if made(of(change)) {
			t.Errorf("with another %s it is still own", what)
		}
	}
	if here, err := IsMadeHere(cmdenv.Dirs{Data: t.TempDir()}, of(func(*tare.Result) {}), ""); here || err != nil {
		t.Errorf("of another data directory: %v, %v", here, err)
	}
}

// TestKeyIsMadeOnce: however many tares are the first, there is one key.
func TestKeyIsMadeOnce(t *testing.T) {
	d := cmdenv.Dirs{Data: filepath.Join(t.TempDir(), "new")}
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = ensureKey(d); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, key := range keys {
		if !bytes.Equal(key, keys[0]) || len(key) != 32 {
			t.Errorf("%x and %x", key, keys[0])
		}
	}
	left, err := os.ReadDir(d.Data)
	if err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}
