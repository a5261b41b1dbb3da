package historycmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/lab/journal"
	"github.com/tarebench/tare/report"
)

// Damage that a disk does: bytes of a result and of a journal, with the time of the file as it was.
func TestDamageIsFound(t *testing.T) {
	data := t.TempDir()
	env := cmdenv.Env{Getenv: func(name string) string {
		return map[string]string{"TARE_DATA": data, "TARE_CACHE": filepath.Join(data, "cache"), "HOME": data}[name]
	}}
	check := func() (found checkReport, code int) {
		t.Helper()
		var out, errs bytes.Buffer
		env.Out, env.Err = &out, &errs
		cmd := checkCommand(env)
		cmd.SetArgs([]string{"--json"})
		code = cmdenv.ExitCode(cmd.ExecuteContext(t.Context()))
		if err := json.Unmarshal(out.Bytes(), &found); err != nil || errs.Len() > 0 {
			t.Fatalf("%v: %s%s", err, out.String(), errs.String())
		}
		return found, code
	}
	var doc bytes.Buffer
	if err := report.JSON(&doc, &tare.Result{Schema: tare.ResultSchema, Study: "s", Run: tare.Run{Seed: "7"}}); err != nil {
		t.Fatal(err)
	}
	dir := ""
	if err := history.Scan("s", &doc, func(k history.DocumentInfo, text []byte) (err error) {
		dir, err = history.ImportDocument(filepath.Join(data, "results", "s"), k, text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w, err := journal.Create(filepath.Join(dir, journal.FileName), journal.Head{Study: "s"})
	if err != nil || w.Append(journal.Entry{Round: &tare.Round{Index: 1}}) != nil || w.Close() != nil {
		t.Fatal(err)
	}
	if found, code := check(); code != 0 || found.Results != 1 || found.Journals != 1 || len(found.Damaged) > 0 {
		t.Fatalf("intact: %+v, exit code %d", found, code)
	}
	for name, change := range map[string][2]string{
		history.ResultName: {`"seed": "7"`, `"seed": "6"`},
		journal.FileName:   {`"study":"s"`, `"study":"t"`},
	} {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(change[0])) {
			t.Fatalf("%s: %v: %s", name, err, text)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		write := func(text []byte) {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}
		write(bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1))
		if found, code := check(); code != cmdenv.ExitUsage || len(found.Damaged) != 1 || !strings.Contains(found.Damaged[0], name) {
			t.Errorf("%s: %+v, exit code %d", name, found, code)
		}
		write(text)
	}
	if found, code := check(); code != 0 {
		t.Errorf("as it was: %+v", found)
	}
}
