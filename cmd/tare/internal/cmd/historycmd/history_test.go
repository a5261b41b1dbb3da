package historycmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/report"
)

func TestPlainText(t *testing.T) {
	for _, c := range []struct {
		goos string
		env  map[string]string
		want bool
	}{
		{"linux", nil, true},
		{"linux", map[string]string{"LANG": "en_GB.UTF-8"}, false},
		{"linux", map[string]string{"LANG": "de_DE.utf8"}, false},
		{"linux", map[string]string{"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, true},
		{"linux", map[string]string{"LANG": "C", "LC_CTYPE": "C.UTF-8"}, false},
		{"linux", map[string]string{"LANG": "en_GB.UTF-8", "NO_COLOR": "1"}, true},
		{"windows", nil, false},
		{"darwin", nil, false},
		{"windows", map[string]string{"NO_COLOR": "1"}, true},
	} {
		if got := plainText(func(name string) string { return c.env[name] }, c.goos); got != c.want {
			t.Errorf("%s %v: %v", c.goos, c.env, got)
		}
	}
}

// A list says of a run neither that it was imported nor that it was not, where the
// disk does not say.
func TestRowOfUnreadMark(t *testing.T) {
	run := history.Run{Study: "s", Dir: t.TempDir(), Whole: true}
	read := history.Digest{Result: &tare.Result{Study: "s"}}
	if r := newRow(run, read); r.Imported || r.Error != "" {
		t.Errorf("without a mark: %+v", r)
	}
	mark := filepath.Join(run.Dir, "imported")
	if err := os.Symlink(mark, mark); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	if r := newRow(run, read); r.Imported || r.Stopped != "unreadable" || !strings.Contains(r.Error, mark) {
		t.Errorf("with one that cannot be read: %+v", r)
	}
}

// A list and a table say what a run left out.
func TestHistoryNamesWhatWasLeftOut(t *testing.T) {
	left := []tare.NotWeighed{{What: "workload w", Why: "a budget of 20s has no time for it"}}
	read := history.Digest{Result: &tare.Result{Study: "s", Record: tare.Record{NotWeighed: left}}}
	if r := newRow(history.Run{Study: "s", Dir: t.TempDir(), Whole: true}, read); r.Verdicts != "no criterion, 1 left out" {
		t.Errorf("%q", r.Verdicts)
	}
	trend := hostileTrend()
	trend.Machines[0].NotWeighed = left
	var out strings.Builder
	writeTrend(&out, trend, true, report.Style{})
	if want := "left out of the newest run:\n  - workload w: a budget of 20s has no time for it\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out.String())
	}
}
