package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, ExitOK},
		{errors.New("disk on fire"), ExitFailure},
		{fmt.Errorf("building: %w", build.ErrNoToolchain), ExitFailure},
		{fmt.Errorf("building: %w", build.ErrCache), ExitFailure},
		{&lab.LostError{Contender: "null"}, ExitFailure},
		{&lab.ExpectError{Missed: []string{"x"}}, ExitFailure},
		{Usage("a", "b"), ExitUsage},
		{fmt.Errorf("study s: %w", &studyfile.Error{File: "f"}), ExitUsage},
		{&lab.StudyError{Study: "s", Err: errors.New("x")}, ExitUsage},
		{fmt.Errorf("study s: %w", &plan.BudgetError{}), ExitUsage},
		{&lab.ResumeError{}, ExitUsage},
		{&nothingToResume{"s"}, ExitUsage},
		{&tare.FieldError{Path: "kinds"}, ExitUsage},
		{fmt.Errorf("building: %w", context.Canceled), ExitInterrupted},
		{errInterrupted, ExitInterrupted},
		{codeError(ExitVoid), ExitVoid},
	} {
		if got := code(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

func TestWorst(t *testing.T) {
	order := []int{ExitOK, ExitInconclusive, ExitNotMet, ExitVoid, ExitUsage, ExitFailure, ExitInterrupted}
	for i, a := range order {
		for j, b := range order {
			if got := worst(a, b); got != order[max(i, j)] {
				t.Errorf("worst(%d, %d) = %d", a, b, got)
			}
		}
	}
}

func TestVerdictCode(t *testing.T) {
	contenders := []tare.Contender{{ID: "a", Role: tare.RoleContender}, {ID: "t", Role: tare.RoleTrap}}
	verdict := func(who, criterion string, v tare.Ruling) tare.Verdict {
		return tare.Verdict{Contender: who, Criterion: criterion, Verdict: v}
	}
	void := func(who string, expected bool) tare.Finding {
		return tare.Finding{Severity: tare.Void, Contender: who, Expected: expected}
	}
	for _, c := range []struct {
		name     string
		verdicts []tare.Verdict
		findings []tare.Finding
		want     int
	}{
		{"nothing", nil, nil, ExitOK},
		{"met", []tare.Verdict{verdict("a", "c", tare.Met)}, nil, ExitOK},
		{"not met is worse than inconclusive", []tare.Verdict{verdict("a", "c", tare.NotMet), verdict("a", "d", tare.Inconclusive)}, nil, ExitNotMet},
		{"void is the worst", []tare.Verdict{verdict("a", "c", tare.VoidRuling), verdict("a", "d", tare.NotMet)}, nil, ExitVoid},
		{"a difference without a criterion is no outcome", []tare.Verdict{verdict("a", "", tare.NotMet)}, nil, ExitOK},
		{"traps do not count", []tare.Verdict{verdict("t", "c", tare.VoidRuling)}, []tare.Finding{void("t", false)}, ExitOK},
		{"void without a criterion", nil, []tare.Finding{void("a", false)}, ExitVoid},
		{"void of everybody", nil, []tare.Finding{void("", false)}, ExitVoid},
		{"expected", nil, []tare.Finding{void("a", true)}, ExitOK},
		{"a warning", nil, []tare.Finding{{Severity: tare.Warn, Contender: "a"}}, ExitOK},
	} {
		if got := verdictCode(&tare.Result{Contenders: contenders, Verdicts: c.verdicts, Findings: c.findings}); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	var b strings.Builder
	complain(&b, errors.New("first\n\tsecond\r\nthird"))
	complain(&b, codeError(3))
	complain(&b, nil)
	if got := b.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "tare: first") {
		t.Errorf("%q", got)
	}
}

func TestDirectories(t *testing.T) {
	for _, c := range []struct {
		goos        string
		env         map[string]string
		cache, data string
	}{
		{"linux", map[string]string{"HOME": "/h"}, "/h/.cache/tare", "/h/.local/share/tare"},
		{"linux", map[string]string{"HOME": "/h", "XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c/tare", "/d/tare"},
		{"linux", map[string]string{"TARE_CACHE": "/x", "TARE_DATA": "/y"}, "/x", "/y"},
		{"darwin", map[string]string{"HOME": "/h"}, "/h/Library/Caches/tare", "/h/Library/Application Support/tare"},
		{"windows", map[string]string{"LocalAppData": "/l", "AppData": "/r"}, "/l/tare", "/r/tare"},
	} {
		d, err := directories(func(k string) string { return c.env[k] }, c.goos)
		if want := (dirs{filepath.FromSlash(c.cache), filepath.FromSlash(c.data)}); filepath.Separator == '/' && (err != nil || d != want) {
			t.Errorf("%s %v: %v %v, want %v", c.goos, c.env, d, err, want)
		}
	}
	if _, err := directories(func(string) string { return "" }, "linux"); code(err) != ExitUsage {
		t.Errorf("without a home: %v", err)
	}
}

func TestRunsNeverShareADirectory(t *testing.T) {
	results, now := t.TempDir(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var names []string
	for range 3 {
		dir, err := newRunDir(results, now, 7)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Base(dir))
	}
	if want := []string{"20260301T120000Z-7", "20260301T120000Z-7-2", "20260301T120000Z-7-3"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}

func TestUnfinished(t *testing.T) {
	results := t.TempDir()
	for name, files := range map[string]map[string]string{
		"20260301T120000Z-1": {"journal.ndjson": "{}\n"},
		"20260302T120000Z-1": {"journal.ndjson": "{}\n", "result.json": `{"stopped": "decided"}`},
		"20260303T120000Z-1": {"journal.ndjson": "{}\n", "result.json": `{"stopped": "interrupted"}`},
		"20260304T120000Z-1": {"journal.ndjson": ""},
		"20260305T120000Z-1": {"input.ndjson": "{}\n"},
		"20260306T120000Z-1": {"journal.ndjson": "{}\n", "result.json": `{"stopp`},
	} {
		for file, text := range files {
			if err := os.MkdirAll(filepath.Join(results, name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(results, name, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	for _, dir := range unfinished(results) {
		got = append(got, filepath.Base(dir))
	}
	if want := []string{"20260306T120000Z-1", "20260303T120000Z-1", "20260301T120000Z-1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := unfinished(filepath.Join(results, "nobody")); got != nil {
		t.Errorf("no directory: %v", got)
	}
}

func TestOutputAppearsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.json")
	if err := os.WriteFile(path, []byte("before"), 0o644); err != nil {
		t.Fatal(err)
	}
	try := func(text string, fail error) error {
		out, err := openOutput(path)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		return out.Save(func(f *os.File) error {
			f.WriteString(text)
			return fail
		})
	}
	if err := try("half", errors.New("stop")); err == nil {
		t.Error("a failure to write is no error")
	}
	if got, _ := os.ReadFile(path); string(got) != "before" {
		t.Errorf("after a failure: %q", got)
	}
	if err := try("after", nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "after" {
		t.Errorf("after success: %q", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("files left: %v", left)
	}
}

func TestInterruptsReachUs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot interrupt itself there")
	}
	signals, restore := interrupts()
	defer restore()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := <-signals; got != os.Interrupt {
		t.Errorf("got %v", got)
	}
}

func TestStudyNamesStayInTheirDirectory(t *testing.T) {
	d := dirs{Data: "data"}
	for name, want := range map[string]string{
		"json-encode": "json-encode", "../../etc": "_.._.._etc", "..": "_..", "a/b": "a_b", `a\b:c`: "a_b_c", "größe 1": "größe 1",
	} {
		if got := d.Results(name); got != filepath.Join("data", "results", want) {
			t.Errorf("%q: %s", name, got)
		}
	}
}

func TestWordsAreSortedAndUnique(t *testing.T) {
	w := words()
	for i := range w {
		if w[i].Text == "" || strings.Contains(w[i].Text, "\n") {
			t.Errorf("%s: %q is no explanation", w[i].Word, w[i].Text)
		}
		if i > 0 && w[i-1].Word >= w[i].Word {
			t.Errorf("%q comes after %q", w[i].Word, w[i-1].Word)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("eins zwei drei "+strings.Repeat("x", 50)+" µµµµ "+strings.Repeat("y ", 20), 40)
	for _, l := range got {
		if n := len([]rune(l)); n > 40 && strings.Contains(l, " ") {
			t.Errorf("%d columns: %q", n, l)
		}
	}
	if strings.Join(strings.Fields(strings.Join(got, " ")), " ") != strings.Join(got, " ") {
		t.Errorf("spaces: %q", got)
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999949: "999.9 kB", 999999: "1.0 MB", 13400000: "13.4 MB", 8589934592: "8.6 GB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestStyleFollowsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		env      map[string]string
		coloured bool
	}{
		{false, nil, false},
		{true, nil, true},
		{true, map[string]string{"NO_COLOR": "1"}, false},
		{true, map[string]string{"TERM": "dumb"}, false},
	} {
		s := Env{Getenv: func(k string) string { return c.env[k] }}
		s.Lab.Terminal = func(any) (int, bool) { return 120, c.terminal }
		st := s.Style(nil)
		if got := paint(st.Bad, "x") != "x"; got != c.coloured {
			t.Errorf("terminal %v, %v: %q", c.terminal, c.env, paint(st.Bad, "x"))
		}
		if c.terminal != (st.Width == 120) {
			t.Errorf("terminal %v: width %d", c.terminal, st.Width)
		}
	}
}
