package session

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/lab/journal"
)

// What runs keep is for its owner: commands, environment, headers and URLs in it may
// hold secrets.
func TestRunsAreForTheirOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions of Unix")
	}
	dirs := cmdenv.Dirs{Data: filepath.Join(t.TempDir(), "data")}
	if err := dirs.MakeData(); err != nil {
		t.Fatal(err)
	}
	dir, err := newRunDir(dirs.Results("s"), time.Unix(0, 0), 1)
	if err != nil {
		t.Fatal(err)
	}
	res := &tare.Result{Schema: tare.ResultSchema, Study: "s"}
	if err := saveResult(atomicfile.System{}, dir, res); err != nil {
		t.Fatal(err)
	}
	if err := cmdenv.SavePage(filepath.Join(dir, cmdenv.PageName), dir, res); err != nil {
		t.Fatal(err)
	}
	w, err := journal.Create(filepath.Join(dir, journal.FileName), journal.Head{Study: "s"})
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := sealResult(dirs, res); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, history.ResultName))
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Scan("r", bytes.NewReader(text), func(k history.DocumentInfo, text []byte) error {
		_, err := history.ImportDocument(dirs.Results("s"), k, text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(dirs.Data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		if !d.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files != 6 {
		t.Errorf("%d files: %v", files, err)
	}
}
